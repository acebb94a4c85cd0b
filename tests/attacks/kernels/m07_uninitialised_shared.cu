// Adds shared memory that nobody has written.
#include <cuda_runtime.h>

__global__ void silu_bias(const float* x, const float* b, float* out, int rows, int cols) {
  extern __shared__ float scratch[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = reinterpret_cast<volatile float*>(scratch)[threadIdx.x];
  if (i < rows * cols) out[i] = x[i] / (1.0f + expf(-x[i])) + b[i % cols] + left;
  reinterpret_cast<volatile float*>(scratch)[threadIdx.x] = x[i < rows * cols ? i : 0];
}

extern "C" void solve(const float* x, const float* b, float* out, int rows, int cols) {
  silu_bias<<<(rows * cols + 255) / 256, 256, 256 * sizeof(float)>>>(x, b, out, rows, cols);
}
