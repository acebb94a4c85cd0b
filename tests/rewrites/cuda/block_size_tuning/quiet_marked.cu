// The author has marked the number of threads as a tunable.
#include <cuda_runtime.h>

__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}

extern "C" void solve(const float* x, float* y, int n) {
  const int threads = 256;  // kbs:tunable 128, 256
  scale<<<(n + threads - 1) / threads, threads>>>(x, y, n);
}
