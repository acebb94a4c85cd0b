// Four affine recurrences per thread on one warp per scheduler. Two things to cure: multiply and
// add kept apart, and the four run one after the other.
#include "common.cuh"

template <bool SPLIT>
__device__ __forceinline__ float advance(float v, float a, float b) {
  return SPLIT ? __fadd_rn(__fmul_rn(v, a), b) : __fmaf_rn(v, a, b);
}

template <bool SPLIT, bool SERIAL>
__device__ __forceinline__ void settle(const float* in, float* out, int steps, float a, float b, i64 n) {
  constexpr int LANES = SERIAL ? 1 : 4;
  i64 i = blockIdx.x * 128ll + threadIdx.x;
#pragma unroll 1
  for (int s = 0; s < 4; s += LANES) {
    float v[LANES];
#pragma unroll
    for (int j = 0; j < LANES; ++j) v[j] = in[(s + j) * n + i];
#pragma unroll 1
    for (int k = 0; k < steps; k += 32) {
#pragma unroll
      for (int u = 0; u < 32; ++u) {
#pragma unroll
        for (int j = 0; j < LANES; ++j) v[j] = advance<SPLIT>(v[j], a, b);
      }
    }
#pragma unroll
    for (int j = 0; j < LANES; ++j) out[(s + j) * n + i] = v[j];
  }
}

extern "C" __global__ void __launch_bounds__(128)
k307_settle(const float* __restrict__ in, float* __restrict__ out, int steps, float a, float b, i64 n) {
  settle<true, true>(in, out, steps, a, b, n);
}
extern "C" __global__ void __launch_bounds__(128)
k307_settle_b(const float* __restrict__ in, float* __restrict__ out, int steps, float a, float b, i64 n) {
  settle<false, false>(in, out, steps, a, b, n);
}
extern "C" __global__ void __launch_bounds__(128)
k307_settle_c(const float* __restrict__ in, float* __restrict__ out, int steps, float a, float b, i64 n) {
  settle<false, true>(in, out, steps, a, b, n);
}
extern "C" __global__ void __launch_bounds__(128)
k307_settle_d(const float* __restrict__ in, float* __restrict__ out, int steps, float a, float b, i64 n) {
  settle<true, false>(in, out, steps, a, b, n);
}

extern "C" int k307_run(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k307_settle<<<(unsigned)(n / 128), 128, 0, s>>>((const float*)in, (float*)out, (int)steps, 0.9999f, 0.01f, n);
  return launched();
}
extern "C" int k307_fixed(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k307_settle_b<<<(unsigned)(n / 128), 128, 0, s>>>((const float*)in, (float*)out, (int)steps, 0.9999f, 0.01f, n);
  return launched();
}
extern "C" int k307_fix_non_fused_arithmetic(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k307_settle_c<<<(unsigned)(n / 128), 128, 0, s>>>((const float*)in, (float*)out, (int)steps, 0.9999f, 0.01f, n);
  return launched();
}
extern "C" int k307_fix_wait_stall(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k307_settle_d<<<(unsigned)(n / 128), 128, 0, s>>>((const float*)in, (float*)out, (int)steps, 0.9999f, 0.01f, n);
  return launched();
}
