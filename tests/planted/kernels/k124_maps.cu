// Each element follows one of eight iterated maps chosen by its own code (random order). Fixed:
// the block sorts its 1024 elements by code in shared memory first.
#include "common.cuh"
#include "maps.cuh"

extern "C" __global__ void __launch_bounds__(256)
k124_maps(const float* __restrict__ in, const int* __restrict__ codes, float* __restrict__ out) {
  i64 base = blockIdx.x * 1024ll + threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) out[base + 256 * k] = follow(in[base + 256 * k], codes[base + 256 * k] & 7);
}

extern "C" __global__ void __launch_bounds__(256)
k124_maps_b(const float* __restrict__ in, const int* __restrict__ codes, float* __restrict__ out) {
  __shared__ int first[9], fill[8];
  __shared__ uint16_t order[1024];
  __shared__ float val[1024];
  __shared__ uint8_t cod[1024];
  i64 base = blockIdx.x * 1024ll;
  int t = threadIdx.x;
  if (t < 8) fill[t] = 0;
  __syncthreads();
  int c[4], rank[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    val[t + 256 * k] = in[base + t + 256 * k];
    c[k] = codes[base + t + 256 * k] & 7;
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

extern "C" int k124_run(void* in, void* codes, void* out, i64 n, cudaStream_t s) {
  k124_maps<<<(unsigned)(n / 1024), 256, 0, s>>>((const float*)in, (const int*)codes, (float*)out);
  return launched();
}
extern "C" int k124_fixed(void* in, void* codes, void* out, i64 n, cudaStream_t s) {
  k124_maps_b<<<(unsigned)(n / 1024), 256, 0, s>>>((const float*)in, (const int*)codes, (float*)out);
  return launched();
}
