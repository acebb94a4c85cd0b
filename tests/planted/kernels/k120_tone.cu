// Sum of 32 harmonics, one sine per harmonic. Fixed: sin(kx) from the two before it.
#include "common.cuh"

constexpr int H = 32;
__device__ __forceinline__ float amp(int k) { return 1.f / (k * k); }

__device__ __forceinline__ float tone(float x) {
  float a = 0.f;
#pragma unroll
  for (int k = 1; k <= H; ++k) a = fmaf(amp(k), __sinf(k * x), a);
  return a;
}
__device__ __forceinline__ float tone_b(float x) {
  float c2 = 2.f * __cosf(x), s0 = 0.f, s1 = __sinf(x), a = s1;
#pragma unroll
  for (int k = 2; k <= H; ++k) {
    float s2 = fmaf(c2, s1, -s0);
    a = fmaf(amp(k), s2, a);
    s0 = s1;
    s1 = s2;
  }
  return a;
}

extern "C" __global__ void __launch_bounds__(256)
k120_tone(const float4* __restrict__ in, float4* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  out[i] = make_float4(tone(v.x), tone(v.y), tone(v.z), tone(v.w));
}
extern "C" __global__ void __launch_bounds__(256)
k120_tone_b(const float4* __restrict__ in, float4* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  out[i] = make_float4(tone_b(v.x), tone_b(v.y), tone_b(v.z), tone_b(v.w));
}

extern "C" int k120_run(void* in, void* out, i64 n, cudaStream_t s) {
  k120_tone<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
extern "C" int k120_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k120_tone_b<<<blocks_for(n / 4, 256), 256, 0, s>>>((const float4*)in, (float4*)out, n / 4);
  return launched();
}
