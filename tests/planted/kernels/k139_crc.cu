// CRC-32 of a column of words, bit by bit. Fixed: a byte table in shared memory.
#include "common.cuh"

constexpr uint32_t POLY = 0xEDB88320u;

extern "C" __global__ void __launch_bounds__(256)
k139_crc(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, int words, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  uint32_t c = ~0u;
#pragma unroll 2
  for (int w = 0; w < words; ++w) {
    c ^= in[w * n + i];
#pragma unroll
    for (int b = 0; b < 32; ++b) c = (c >> 1) ^ ((c & 1u) ? POLY : 0u);
  }
  out[i] = ~c;
}

extern "C" __global__ void __launch_bounds__(256)
k139_crc_b(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, int words, i64 n) {
  __shared__ uint32_t table[256];
  uint32_t e = threadIdx.x;
#pragma unroll
  for (int b = 0; b < 8; ++b) e = (e >> 1) ^ ((e & 1u) ? POLY : 0u);
  table[threadIdx.x] = e;
  __syncthreads();
  for (i64 i = blockIdx.x * 1024ll + threadIdx.x, k = 0; k < 4; ++k, i += 256) {
    uint32_t c = ~0u;
#pragma unroll 4
    for (int w = 0; w < words; ++w) {
      c ^= in[w * n + i];
#pragma unroll
      for (int b = 0; b < 4; ++b) c = (c >> 8) ^ table[c & 255u];
    }
    out[i] = ~c;
  }
}

extern "C" int k139_run(void* in, void* out, i64 n, i64 words, cudaStream_t s) {
  k139_crc<<<(unsigned)(n / 256), 256, 0, s>>>((const uint32_t*)in, (uint32_t*)out, (int)words, n);
  return launched();
}
extern "C" int k139_fixed(void* in, void* out, i64 n, i64 words, cudaStream_t s) {
  k139_crc_b<<<(unsigned)(n / 1024), 256, 0, s>>>((const uint32_t*)in, (uint32_t*)out, (int)words, n);
  return launched();
}
