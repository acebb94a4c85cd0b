// The arrays are double: so is the task.
__global__ void scale(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5 * x[i];
}

extern "C" void solve(const double* x, double* y, int n) { scale<<<(n + 127) / 128, 128>>>(x, y, n); }
