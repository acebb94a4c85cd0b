// Iterated maps chosen per element. Two things to cure: value and code read from 64-byte records
// (or from their own arrays), and codes in random order (or sorted by the block).
#include "common.cuh"
#include "maps.cuh"

struct Record {
  float x;
  int code;
  float other[14];
};

template <bool RECORDS>
__device__ __forceinline__ void get(const Record* r, const float* xs, const int* cs, i64 i, float& x, int& c) {
  x = RECORDS ? r[i].x : xs[i];
  c = (RECORDS ? r[i].code : cs[i]) & 7;
}

template <bool RECORDS, bool RANDOM>
__device__ __forceinline__ void run(const Record* r, const float* xs, const int* cs, float* out) {
  const i64 base = blockIdx.x * 1024ll;
  const int t = threadIdx.x;
  if (RANDOM) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      float x;
      int c;
      get<RECORDS>(r, xs, cs, base + t + 256 * k, x, c);
      out[base + t + 256 * k] = follow(x, c);
    }
    return;
  }
  __shared__ int first[9], fill[8];
  __shared__ uint16_t order[1024];
  __shared__ float val[1024];
  __shared__ uint8_t cod[1024];
  if (t < 8) fill[t] = 0;
  __syncthreads();
  int c[4], rank[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    get<RECORDS>(r, xs, cs, base + t + 256 * k, val[t + 256 * k], c[k]);
    cod[t + 256 * k] = (uint8_t)c[k];
    unsigned peers = __match_any_sync(0xffffffffu, c[k]);
    int leader = __ffs(peers) - 1, at = 0;
    if ((t & 31) == leader) at = atomicAdd(&fill[c[k]], __popc(peers));
    rank[k] = __shfl_sync(0xffffffffu, at, leader) + __popc(peers & ((1u << (t & 31)) - 1));
  }
  __syncthreads();
  if (t == 0) {
    first[0] = 0;
    for (int k = 0; k < 8; ++k) first[k + 1] = first[k] + fill[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) order[first[c[k]] + rank[k]] = (uint16_t)(t + 256 * k);
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
    int e = order[t + 256 * k];
    val[e] = follow(val[e], cod[e]);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) out[base + t + 256 * k] = val[t + 256 * k];
}

extern "C" __global__ void __launch_bounds__(256)
k303_orbits(const Record* __restrict__ r, const float* __restrict__ xs, const int* __restrict__ cs, float* __restrict__ out) {
  run<true, true>(r, xs, cs, out);
}
extern "C" __global__ void __launch_bounds__(256)
k303_orbits_b(const Record* __restrict__ r, const float* __restrict__ xs, const int* __restrict__ cs, float* __restrict__ out) {
  run<false, false>(r, xs, cs, out);
}
extern "C" __global__ void __launch_bounds__(256)
k303_orbits_c(const Record* __restrict__ r, const float* __restrict__ xs, const int* __restrict__ cs, float* __restrict__ out) {
  run<false, true>(r, xs, cs, out);
}
extern "C" __global__ void __launch_bounds__(256)
k303_orbits_d(const Record* __restrict__ r, const float* __restrict__ xs, const int* __restrict__ cs, float* __restrict__ out) {
  run<true, false>(r, xs, cs, out);
}

extern "C" int k303_run(void* r, void* xs, void* cs, void* out, i64 n, cudaStream_t s) {
  k303_orbits<<<(unsigned)(n / 1024), 256, 0, s>>>((const Record*)r, (const float*)xs, (const int*)cs, (float*)out);
  return launched();
}
extern "C" int k303_fixed(void* r, void* xs, void* cs, void* out, i64 n, cudaStream_t s) {
  k303_orbits_b<<<(unsigned)(n / 1024), 256, 0, s>>>((const Record*)r, (const float*)xs, (const int*)cs, (float*)out);
  return launched();
}
extern "C" int k303_fix_uncoalesced_global_load(void* r, void* xs, void* cs, void* out, i64 n, cudaStream_t s) {
  k303_orbits_c<<<(unsigned)(n / 1024), 256, 0, s>>>((const Record*)r, (const float*)xs, (const int*)cs, (float*)out);
  return launched();
}
extern "C" int k303_fix_thread_divergence(void* r, void* xs, void* cs, void* out, i64 n, cudaStream_t s) {
  k303_orbits_d<<<(unsigned)(n / 1024), 256, 0, s>>>((const Record*)r, (const float*)xs, (const int*)cs, (float*)out);
  return launched();
}
