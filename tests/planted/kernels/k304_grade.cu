// Tone curve over a grid-stride loop. Two things to cure: double literals, and 24 blocks.
#include "common.cuh"

#define HORNER(SUF)                                                                              \
  float r = x * 0.0117f;                                                                         \
  r = (r + 0.0213##SUF) * x; r = (r - 0.0171##SUF) * x; r = (r + 0.0331##SUF) * x;               \
  r = (r + 0.0427##SUF) * x; r = (r - 0.0613##SUF) * x; r = (r + 0.0719##SUF) * x;               \
  r = (r + 0.0911##SUF) * x; r = (r - 0.1203##SUF) * x; r = (r + 0.1507##SUF) * x;               \
  r = (r + 0.2111##SUF) * x; r = (r + 0.4307##SUF) * x;

__device__ __forceinline__ float curve_d(float x) { HORNER() return r; }
__device__ __forceinline__ float curve_f(float x) { HORNER(f) return r; }

template <bool DOUBLE>
__device__ __forceinline__ float curve(float x) { return DOUBLE ? curve_d(x) : curve_f(x); }

template <bool DOUBLE>
__device__ __forceinline__ void body(const float4* in, float4* out, i64 n) {
#pragma unroll 1
  for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
    float4 v = in[i];
    out[i] = make_float4(curve<DOUBLE>(v.x), curve<DOUBLE>(v.y), curve<DOUBLE>(v.z), curve<DOUBLE>(v.w));
  }
}

extern "C" __global__ void __launch_bounds__(256)
k304_grade(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { body<true>(in, out, n); }
extern "C" __global__ void __launch_bounds__(256)
k304_grade_b(const float4* __restrict__ in, float4* __restrict__ out, i64 n) { body<false>(in, out, n); }

extern "C" int k304_run(void* in, void* out, i64 n, cudaStream_t s) {
  k304_grade<<<24, 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k304_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k304_grade_b<<<132 * 8, 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k304_fix_unintended_fp64(void* in, void* out, i64 n, cudaStream_t s) {
  k304_grade_b<<<24, 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k304_fix_small_grid(void* in, void* out, i64 n, cudaStream_t s) {
  k304_grade<<<132 * 8, 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
