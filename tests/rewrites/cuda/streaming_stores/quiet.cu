// The result is read and written.
__global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] + x[i];
}

extern "C" void solve(const float* x, float* y, int n) { add<<<(n + 127) / 128, 128>>>(x, y, n); }
