// One array is given twice: restrict would be a lie.
__global__ void shift(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.0f;
}

extern "C" void solve(float* x, int n) { shift<<<(n + 127) / 128, 128>>>(x, x, n); }
