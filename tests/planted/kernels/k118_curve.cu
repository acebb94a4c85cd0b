// Degree-12 tone curve on float data whose coefficients are double literals. Fixed: float literals.
#include "common.cuh"

#define HORNER(SUF)                                                                              \
  float r = x * 0.0117f;                                                                         \
  r = (r + 0.0213##SUF) * x; r = (r - 0.0171##SUF) * x; r = (r + 0.0331##SUF) * x;               \
  r = (r + 0.0427##SUF) * x; r = (r - 0.0613##SUF) * x; r = (r + 0.0719##SUF) * x;               \
  r = (r + 0.0911##SUF) * x; r = (r - 0.1203##SUF) * x; r = (r + 0.1507##SUF) * x;               \
  r = (r + 0.2111##SUF) * x; r = (r + 0.4307##SUF) * x;

__device__ __forceinline__ float curve_d(float x) { HORNER() return r; }
__device__ __forceinline__ float curve_f(float x) { HORNER(f) return r; }

extern "C" __global__ void __launch_bounds__(256)
k118_curve(const float4* __restrict__ in, float4* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  out[i] = make_float4(curve_d(v.x), curve_d(v.y), curve_d(v.z), curve_d(v.w));
}
extern "C" __global__ void __launch_bounds__(256)
k118_curve_b(const float4* __restrict__ in, float4* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  out[i] = make_float4(curve_f(v.x), curve_f(v.y), curve_f(v.z), curve_f(v.w));
}

extern "C" int k118_run(void* in, void* out, i64 n, cudaStream_t s) {
  k118_curve<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k118_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k118_curve_b<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
