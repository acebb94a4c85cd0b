// 64 vectors of 4096 elements scaled by one launch each. Fixed: one launch for all.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k138_scale(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
extern "C" __global__ void __launch_bounds__(256)
k138_scale_b(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  i64 k = (i64)blockIdx.y * n + i;
  if (i < n) y[k] = (1.f + 0.125f * blockIdx.y) * x[k];
}

extern "C" int k138_run(void* x, void* y, i64 vectors, i64 n, cudaStream_t s) {
  for (i64 v = 0; v < vectors; ++v)
    k138_scale<<<blocks_for(n, 256), 256, 0, s>>>((const float*)x + v * n, (float*)y + v * n,
                                                  1.f + 0.125f * v, (int)n);
  return launched();
}
extern "C" int k138_fixed(void* x, void* y, i64 vectors, i64 n, cudaStream_t s) {
  k138_scale_b<<<dim3(blocks_for(n, 256), (unsigned)vectors), 256, 0, s>>>((const float*)x, (float*)y, (int)n);
  return launched();
}
