// Rounds a value to 48 successive quantisation grids through integers. Fixed: rounding by adding
// and subtracting 1.5*2^23, exact to the same nearest-even result below 2^22.
#include "common.cuh"

constexpr int GRIDS = 48;

template <bool CAST>
__device__ __forceinline__ float requant(float x) {
#pragma unroll
  for (int k = 0; k < GRIDS; ++k) {
    float s = 97.f + 3.f * k;
    float y = __fmul_rn(x, s);
    float q = CAST ? __int2float_rn(__float2int_rn(y)) : __fadd_rn(__fadd_rn(y, 12582912.f), -12582912.f);
    x = __fmul_rn(q, 1.f / s);
  }
  return x;
}

template <bool CAST>
__device__ __forceinline__ void body(const float4* in, float4* out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  out[i] = make_float4(requant<CAST>(v.x), requant<CAST>(v.y), requant<CAST>(v.z), requant<CAST>(v.w));
}

extern "C" __global__ void __launch_bounds__(256)
k121_requant(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { body<true>(in, out, n); }
extern "C" __global__ void __launch_bounds__(256)
k121_requant_b(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { body<false>(in, out, n); }

extern "C" int k121_run(void* in, void* out, i64 n, cudaStream_t s) {
  k121_requant<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k121_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k121_requant_b<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
