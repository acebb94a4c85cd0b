// Follows a chain of table positions, then runs a rare repair step with some 200 live values.
// Fixed: launch bounds that size the registers for the common path.
#include "common.cuh"

constexpr int S = 200;

__device__ __forceinline__ float repair(float x, int rounds) {
  float v[S];
#pragma unroll
  for (int k = 0; k < S; ++k) v[k] = x * (1.f + 0.01f * k);
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < S; ++k) v[k] = fmaf(v[(k + 67) % S], 0.25f, v[k] * 0.5f);
  }
  float a = 0.f;
#pragma unroll
  for (int k = 0; k < S; ++k) a += v[k];
  return a;
}

__device__ __forceinline__ void walk(const int2* table, float* out, int steps, int rounds) {
  int i = blockIdx.x * 256 + threadIdx.x, at = i;
  float a = 0.f;
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    int2 e = table[at];
    at = e.x;
    a += __int_as_float(e.y);
  }
  if (a > 1e6f) a = repair(a, rounds);
  out[i] = a;
}

extern "C" __global__ void __launch_bounds__(256)
k134_walk(const int2* __restrict__ table, float* __restrict__ out, int steps, int rounds) {
  walk(table, out, steps, rounds);
}
extern "C" __global__ void __launch_bounds__(256, 8)
k134_walk_b(const int2* __restrict__ table, float* __restrict__ out, int steps, int rounds) {
  walk(table, out, steps, rounds);
}

extern "C" int k134_run(void* table, void* out, i64 n, i64 steps, cudaStream_t s) {
  k134_walk<<<(unsigned)(n / 256), 256, 0, s>>>((const int2*)table, (float*)out, (int)steps, 3);
  return launched();
}
extern "C" int k134_fixed(void* table, void* out, i64 n, i64 steps, cudaStream_t s) {
  k134_walk_b<<<(unsigned)(n / 256), 256, 0, s>>>((const int2*)table, (float*)out, (int)steps, 3);
  return launched();
}
