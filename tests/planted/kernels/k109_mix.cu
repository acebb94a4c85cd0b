// Every thread mixes 48 state variables all-to-all for a few rounds. Launch bounds allow 32
// registers; fixed: the bounds match the state.
#include "common.cuh"

constexpr int S = 48;

__device__ __forceinline__ void mix(const float* in, float* out, int rounds, i64 n, i64 i) {
  float v[S];
#pragma unroll
  for (int k = 0; k < S; ++k) v[k] = in[k * n + i];
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < S; ++k) v[k] = fmaf(v[k], 0.5f, 0.25f * (v[(k + 7) % S] + v[(k + 29) % S]));
  }
#pragma unroll
  for (int k = 0; k < S; ++k) out[k * n + i] = v[k];
}

extern "C" __global__ void __launch_bounds__(1024, 2)
k109_mix(const float* __restrict__ in, float* __restrict__ out, int rounds, i64 n) {
  mix(in, out, rounds, n, blockIdx.x * (i64)blockDim.x + threadIdx.x);
}
extern "C" __global__ void __launch_bounds__(256)
k109_mix_b(const float* __restrict__ in, float* __restrict__ out, int rounds, i64 n) {
  mix(in, out, rounds, n, blockIdx.x * (i64)blockDim.x + threadIdx.x);
}

extern "C" int k109_run(void* in, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k109_mix<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out, (int)rounds, n);
  return launched();
}
extern "C" int k109_fixed(void* in, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k109_mix_b<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out, (int)rounds, n);
  return launched();
}
