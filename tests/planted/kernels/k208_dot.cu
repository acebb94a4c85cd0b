// Dot product of two large vectors: wide loads, shuffles, one atomic per block.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(512)
k208_dot(const float4* __restrict__ x, const float4* __restrict__ y, float* __restrict__ out, i64 n) {
  __shared__ float scratch[32];
  float a = 0.f;
#pragma unroll 4
  for (i64 i = blockIdx.x * 512ll + threadIdx.x; i < n; i += gridDim.x * 512ll) {
    float4 u = x[i], v = y[i];
    a += (u.x * v.x + u.y * v.y) + (u.z * v.z + u.w * v.w);
  }
  a = block_sum(a, scratch);
  if (threadIdx.x == 0) atomicAdd(out, a);
}
extern "C" int k208_run(void* x, void* y, void* out, i64 n, cudaStream_t s) {
  cudaMemsetAsync(out, 0, 4, s);
  k208_dot<<<132 * 4, 512, 0, s>>>((const float4*)x, (const float4*)y, (float*)out, n / 4);
  return launched();
}
