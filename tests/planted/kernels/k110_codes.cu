// Per-thread counts of 64 codes over a column of samples (five 6-bit codes a word). Counts in a
// private array indexed by data; fixed: byte counters in shared memory, a column per thread.
#include "common.cuh"

constexpr int CODES = 64;

extern "C" __global__ void __launch_bounds__(256)
k110_codes(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, int steps, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  uint32_t cnt[CODES];
#pragma unroll
  for (int k = 0; k < CODES; ++k) cnt[k] = 0;
#pragma unroll 2
  for (int s = 0; s < steps; ++s) {
    uint32_t w = in[s * n + i];
#pragma unroll
    for (int k = 0; k < 5; ++k) cnt[(w >> (6 * k)) & 63u] += 1u;
  }
#pragma unroll
  for (int k = 0; k < CODES / 4; ++k)
    out[k * n + i] = cnt[4 * k] | cnt[4 * k + 1] << 8 | cnt[4 * k + 2] << 16 | cnt[4 * k + 3] << 24;
}

extern "C" __global__ void __launch_bounds__(256)
k110_codes_b(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, int steps, i64 n) {
  __shared__ uint8_t cnt[CODES][256];
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  const int t = threadIdx.x;
#pragma unroll
  for (int k = 0; k < CODES; ++k) cnt[k][t] = 0;
#pragma unroll 2
  for (int s = 0; s < steps; ++s) {
    uint32_t w = in[s * n + i];
#pragma unroll
    for (int k = 0; k < 5; ++k) cnt[(w >> (6 * k)) & 63u][t] += 1;
  }
#pragma unroll
  for (int k = 0; k < CODES / 4; ++k)
    out[k * n + i] = cnt[4 * k][t] | cnt[4 * k + 1][t] << 8 | cnt[4 * k + 2][t] << 16 |
                     (uint32_t)cnt[4 * k + 3][t] << 24;
}

extern "C" int k110_run(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k110_codes<<<blocks_for(n, 256), 256, 0, s>>>((const uint32_t*)in, (uint32_t*)out, (int)steps, n);
  return launched();
}
extern "C" int k110_fixed(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k110_codes_b<<<blocks_for(n, 256), 256, 0, s>>>((const uint32_t*)in, (uint32_t*)out, (int)steps, n);
  return launched();
}
