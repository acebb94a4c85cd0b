// Grid-stride activation launched with 16 blocks. Fixed: eight blocks per SM.
#include "common.cuh"

__device__ __forceinline__ float swish(float x) { return __fdividef(x, 1.f + __expf(-x)); }

__device__ __forceinline__ void body(const float4* in, float4* out, i64 n) {
#pragma unroll 2
  for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
    float4 v = in[i];
    out[i] = make_float4(swish(v.x), swish(v.y), swish(v.z), swish(v.w));
  }
}
extern "C" __global__ void __launch_bounds__(256)
k131_swish(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { body(in, out, n); }
extern "C" __global__ void __launch_bounds__(256)
k131_swish_b(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { body(in, out, n); }

extern "C" int k131_run(void* in, void* out, i64 n, cudaStream_t s) {
  k131_swish<<<16, 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k131_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k131_swish_b<<<132 * 8, 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
