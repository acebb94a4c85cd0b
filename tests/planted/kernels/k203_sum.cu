// Sum of a large array: wide loads, shuffles, one atomic per block.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(512)
k203_sum(const float4* __restrict__ in, float* __restrict__ out, i64 n) {
  __shared__ float scratch[32];
  float a = 0.f;
#pragma unroll 8
  for (i64 i = blockIdx.x * 512ll + threadIdx.x; i < n; i += gridDim.x * 512ll) {
    float4 v = in[i];
    a += (v.x + v.y) + (v.z + v.w);
  }
  a = block_sum(a, scratch);
  if (threadIdx.x == 0) atomicAdd(out, a);
}
extern "C" int k203_run(void* in, void* out, i64 n, cudaStream_t s) {
  cudaMemsetAsync(out, 0, 4, s);
  k203_sum<<<132 * 4, 512, 0, s>>>((const float4*)in, (float*)out, n / 4);
  return launched();
}
