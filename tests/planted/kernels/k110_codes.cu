// Per-thread counts of 16 codes over a column of samples. Counts in an array indexed by data;
// fixed: sixteen 8-bit counters packed in two registers.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k110_codes(const uint32_t* __restrict__ in, uint4* __restrict__ out, int steps, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  uint32_t cnt[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) cnt[k] = 0;
#pragma unroll 4
  for (int s = 0; s < steps; ++s) {
    uint32_t w = in[s * n + i];
#pragma unroll
    for (int k = 0; k < 8; ++k) cnt[(w >> (4 * k)) & 15u] += 1u;
  }
  uint32_t p[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    p[k] = cnt[4 * k] | cnt[4 * k + 1] << 8 | cnt[4 * k + 2] << 16 | cnt[4 * k + 3] << 24;
  out[i] = make_uint4(p[0], p[1], p[2], p[3]);
}

extern "C" __global__ void __launch_bounds__(256)
k110_codes_b(const uint32_t* __restrict__ in, uint4* __restrict__ out, int steps, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  uint32_t p[4] = {0, 0, 0, 0};
#pragma unroll 4
  for (int s = 0; s < steps; ++s) {
    uint32_t w = in[s * n + i];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      uint32_t c = (w >> (4 * k)) & 15u, one = 1u << (8 * (c & 3u)), q = c >> 2;
#pragma unroll
      for (int j = 0; j < 4; ++j) p[j] += (q == j) ? one : 0u;
    }
  }
  out[i] = make_uint4(p[0], p[1], p[2], p[3]);
}

extern "C" int k110_run(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k110_codes<<<blocks_for(n, 256), 256, 0, s>>>((const uint32_t*)in, (uint4*)out, (int)steps, n);
  return launched();
}
extern "C" int k110_fixed(void* in, void* out, i64 n, i64 steps, cudaStream_t s) {
  k110_codes_b<<<blocks_for(n, 256), 256, 0, s>>>((const uint32_t*)in, (uint4*)out, (int)steps, n);
  return launched();
}
