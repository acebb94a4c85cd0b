// y = a*x + b over 1024 elements: the launch costs more than the work. There is no fix inside the
// kernel; callers batch, fuse or replay it.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k137_axpy(const float* __restrict__ x, float* __restrict__ y, float a, float b, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = fmaf(a, x[i], b);
}

extern "C" int k137_run(void* x, void* y, i64 n, cudaStream_t s) {
  k137_axpy<<<blocks_for(n, 256), 256, 0, s>>>((const float*)x, (float*)y, 1.5f, 0.5f, (int)n);
  return launched();
}
