// Fills an array with one value, 16 bytes per store.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k206_fill(float4* __restrict__ out, float v) {
  i64 i = blockIdx.x * 1024ll + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) out[i + 256 * k] = make_float4(v, v, v, v);
}
extern "C" int k206_run(void* out, i64 n, cudaStream_t s) {
  k206_fill<<<(unsigned)(n / 4096), 256, 0, s>>>((float4*)out, 2.5f);
  return launched();
}
