// A neighbour's element is read too.
__global__ void difference(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i + 1] - x[i];
}

extern "C" void solve(const float* x, float* y, int n) { difference<<<(n + 127) / 128, 128>>>(x, y, n); }
