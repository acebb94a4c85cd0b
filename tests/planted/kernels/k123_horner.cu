// Degree-192 polynomial with separate multiplies and adds. Fixed: fused multiply-add.
#include "common.cuh"

constexpr int DEG = 192;
__device__ __forceinline__ float coef(int k) { return (k % 3 ? 1.f : -1.f) / (1.f + 0.25f * k); }

template <bool FUSED>
__device__ __forceinline__ float step(float a, float x, float c) {
  return FUSED ? __fmaf_rn(a, x, c) : __fadd_rn(__fmul_rn(a, x), c);
}

template <bool FUSED>
__device__ __forceinline__ void poly(const float4* in, float4* out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  float4 x = in[i], a = make_float4(coef(DEG), coef(DEG), coef(DEG), coef(DEG));
#pragma unroll
  for (int k = DEG - 1; k >= 0; --k) {
    a.x = step<FUSED>(a.x, x.x, coef(k));
    a.y = step<FUSED>(a.y, x.y, coef(k));
    a.z = step<FUSED>(a.z, x.z, coef(k));
    a.w = step<FUSED>(a.w, x.w, coef(k));
  }
  out[i] = a;
}

extern "C" __global__ void __launch_bounds__(256)
k123_horner(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { poly<false>(in, out, n); }
extern "C" __global__ void __launch_bounds__(256)
k123_horner_b(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { poly<true>(in, out, n); }

extern "C" int k123_run(void* in, void* out, i64 n, cudaStream_t s) {
  k123_horner<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k123_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k123_horner_b<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
