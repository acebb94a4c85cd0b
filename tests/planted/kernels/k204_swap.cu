// Transpose through a padded 64x64 shared tile, both sides coalesced.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k204_swap(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[64][65];
  const int tx = threadIdx.x & 63, ty = threadIdx.x >> 6;
  i64 x = blockIdx.x * 64 + tx, y = blockIdx.y * 64 + ty;
#pragma unroll
  for (int k = 0; k < 64; k += 4) tile[ty + k][tx] = in[(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 64 + tx;
  y = blockIdx.x * 64 + ty;
#pragma unroll
  for (int k = 0; k < 64; k += 4) out[(y + k) * n + x] = tile[tx][ty + k];
}
extern "C" int k204_run(void* in, void* out, i64 n, cudaStream_t s) {
  k204_swap<<<dim3(n / 64, n / 64), 256, 0, s>>>((const float*)in, (float*)out, (int)n);
  return launched();
}
