// Never ends.
#include <cuda_runtime.h>

__device__ volatile int stop;

__global__ void endless() {
  while (stop == 0) {
  }
}

extern "C" void solve(const float* x, const float* b, float* out, int rows, int cols) {
  endless<<<1, 1>>>();
}
