// Energy of cells with 40 state variables after a few mixing rounds. Two things to cure: state
// stored cell by cell (or variable by variable), registers capped at 32 (or not).
#include "common.cuh"

constexpr int S = 40;

template <bool BY_CELL>
__device__ __forceinline__ void cells(const float* in, float* out, int rounds, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  float v[S];
#pragma unroll
  for (int k = 0; k < S; ++k) v[k] = BY_CELL ? in[i * S + k] : in[k * n + i];
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < S; ++k) v[k] = fmaf(v[k], 0.5f, 0.25f * (v[(k + 7) % S] + v[(k + 23) % S]));
  }
  float a = 0.f;
#pragma unroll
  for (int k = 0; k < S; ++k) a = fmaf(v[k], v[k], a);
  out[i] = a;
}

extern "C" __global__ void __launch_bounds__(256, 8)
k301_cells(const float* __restrict__ in, float* __restrict__ out, int rounds, i64 n) {
  cells<true>(in, out, rounds, n);
}
extern "C" __global__ void __launch_bounds__(256)
k301_cells_b(const float* __restrict__ in, float* __restrict__ out, int rounds, i64 n) {
  cells<false>(in, out, rounds, n);
}
extern "C" __global__ void __launch_bounds__(256, 8)
k301_cells_c(const float* __restrict__ in, float* __restrict__ out, int rounds, i64 n) {
  cells<false>(in, out, rounds, n);
}
extern "C" __global__ void __launch_bounds__(256)
k301_cells_d(const float* __restrict__ in, float* __restrict__ out, int rounds, i64 n) {
  cells<true>(in, out, rounds, n);
}

extern "C" int k301_run(void* in, void*, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k301_cells<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out, (int)rounds, n);
  return launched();
}
extern "C" int k301_fixed(void*, void* in, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k301_cells_b<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out, (int)rounds, n);
  return launched();
}
extern "C" int k301_fix_uncoalesced_global_load(void*, void* in, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k301_cells_c<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out, (int)rounds, n);
  return launched();
}
extern "C" int k301_fix_register_spills(void* in, void*, void* out, i64 n, i64 rounds, cudaStream_t s) {
  k301_cells_d<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)in, (float*)out, (int)rounds, n);
  return launched();
}
