// Shared by every planted kernel: launch results and the block-wide sum.
#pragma once
#include <cstdint>
#include <cuda_runtime.h>

typedef long long i64;

static inline unsigned blocks_for(i64 n, i64 per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

static inline int launched() { return static_cast<int>(cudaGetLastError()); }

__device__ __forceinline__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}

// Sum over the block, valid in thread 0; scratch holds 32 floats.
__device__ __forceinline__ float block_sum(float v, float* scratch) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_sum(v);
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  const int warps = (blockDim.x + 31) >> 5;
  v = (threadIdx.x < warps) ? scratch[threadIdx.x] : 0.f;
  if (warp == 0) v = warp_sum(v);
  return v;
}
