// Runs a small register program on every element, one dispatch per instruction; the program is the
// same for all. Fixed: the program compiled into straight-line code.
#include "common.cuh"

constexpr uint64_t PROGRAM = 0x5172630472163507ull;

__device__ __forceinline__ uint32_t rot(uint32_t v, int k) { return (v << k) | (v >> (32 - k)); }

__device__ __forceinline__ void exec(int op, uint32_t& x, uint32_t& y, uint32_t& z) {
  switch (op) {
    case 0: x += y ^ z; z = rot(z, 5); break;
    case 1: y = rot(y, 9) + x; z ^= y; break;
    case 2: z -= x & y; x = rot(x, 13); break;
    case 3: x ^= y + 0x9E3779B9u; y = rot(y, 3); break;
    case 4: y += x | z; z = rot(z, 17) ^ x; break;
    case 5: z += rot(x, 11); y ^= 0x85EBCA6Bu; break;
    case 6: x = rot(x, 7) - z; y += 0xC2B2AE35u; break;
    default: y ^= z & ~x; x += rot(y, 21); break;
  }
}

extern "C" __global__ void __launch_bounds__(256)
k143_program(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, uint64_t program, int rounds) {
  int i = blockIdx.x * 256 + threadIdx.x;
  uint32_t x = in[i], y = 1u, z = 2u;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    uint64_t p = program;
#pragma unroll 1
    for (int k = 0; k < 16; ++k, p >>= 4) exec((int)(p & 7u), x, y, z);
  }
  out[i] = (x + y) + z;
}

extern "C" __global__ void __launch_bounds__(256)
k143_program_b(const uint32_t* __restrict__ in, uint32_t* __restrict__ out, int rounds) {
  int i = blockIdx.x * 256 + threadIdx.x;
  uint32_t x = in[i], y = 1u, z = 2u;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 16; ++k) exec((int)((PROGRAM >> (4 * k)) & 7u), x, y, z);
  }
  out[i] = (x + y) + z;
}

extern "C" int k143_run(void* in, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k143_program<<<(unsigned)(n / 256), 256, 0, s>>>((const uint32_t*)in, (uint32_t*)out, PROGRAM, (int)rounds);
  return launched();
}
extern "C" int k143_fixed(void* in, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k143_program_b<<<(unsigned)(n / 256), 256, 0, s>>>((const uint32_t*)in, (uint32_t*)out, (int)rounds);
  return launched();
}
