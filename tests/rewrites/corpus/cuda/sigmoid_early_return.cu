// Logistic function; threads beyond the end return.
#include <cuda_runtime.h>
#include <math.h>
#define BLOCK_SIZE 128

__global__ void sigmoid_kernel(float* x, float* y, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n) return;
  y[idx] = 1.0f / (1.0f + expf(-x[idx]));
}

extern "C" void solve(float* x, float* y, int n) {
  dim3 grid((n + BLOCK_SIZE - 1) / BLOCK_SIZE);
  dim3 block(BLOCK_SIZE);
  sigmoid_kernel<<<grid, block>>>(x, y, n);
}
