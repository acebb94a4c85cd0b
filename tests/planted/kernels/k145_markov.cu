// Random walks on a 64-state chain whose transitions lie in shared memory (a column per lane):
// four walks per thread, one after the other. Fixed: the four advance together.
#include "common.cuh"

constexpr int STATES = 64;

__device__ __forceinline__ void load(const int* next, int* sh) {
  for (int k = threadIdx.x; k < STATES * 4 * 32; k += 256) sh[k] = next[k >> 5];
  __syncthreads();
}
__device__ __forceinline__ void hop(int& state, uint32_t& r, const int* sh, int lane) {
  state = sh[(state * 4 + (r >> 30)) * 32 + lane];
  r = r * 1664525u + 1013904223u;
}

extern "C" __global__ void __launch_bounds__(256)
k145_markov(const int* __restrict__ next, const uint32_t* __restrict__ seed, int* __restrict__ out,
            int steps, int n) {
  __shared__ int sh[STATES * 4 * 32];
  load(next, sh);
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31;
#pragma unroll 1
  for (int w = 0; w < 4; ++w) {
    int state = 0;
    uint32_t r = seed[w * n + i];
#pragma unroll 1
    for (int k = 0; k < steps; k += 16) {
#pragma unroll
      for (int u = 0; u < 16; ++u) hop(state, r, sh, lane);
    }
    out[w * n + i] = state;
  }
}

extern "C" __global__ void __launch_bounds__(256)
k145_markov_b(const int* __restrict__ next, const uint32_t* __restrict__ seed, int* __restrict__ out,
              int steps, int n) {
  __shared__ int sh[STATES * 4 * 32];
  load(next, sh);
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31;
  int state[4] = {0, 0, 0, 0};
  uint32_t r[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) r[w] = seed[w * n + i];
#pragma unroll 1
  for (int k = 0; k < steps; k += 16) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
#pragma unroll
      for (int w = 0; w < 4; ++w) hop(state[w], r[w], sh, lane);
    }
  }
#pragma unroll
  for (int w = 0; w < 4; ++w) out[w * n + i] = state[w];
}

extern "C" int k145_run(void* next, void* seed, void* out, i64 n, i64 steps, cudaStream_t s) {
  k145_markov<<<(unsigned)(n / 256), 256, 0, s>>>((const int*)next, (const uint32_t*)seed, (int*)out, (int)steps, (int)n);
  return launched();
}
extern "C" int k145_fixed(void* next, void* seed, void* out, i64 n, i64 steps, cudaStream_t s) {
  k145_markov_b<<<(unsigned)(n / 256), 256, 0, s>>>((const int*)next, (const uint32_t*)seed, (int*)out, (int)steps, (int)n);
  return launched();
}
