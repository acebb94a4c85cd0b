// Square matrix transpose that reads along rows and writes along columns. Fixed: padded shared tile.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k103_flip(const float* __restrict__ in, float* __restrict__ out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y0 = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) out[(i64)x * n + y0 + k] = in[(i64)(y0 + k) * n + x];
}

extern "C" __global__ void __launch_bounds__(256)
k103_flip_b(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(i64)(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) out[(i64)(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" int k103_run(void* in, void* out, i64 n, cudaStream_t s) {
  k103_flip<<<dim3(n / 32, n / 32), dim3(32, 8), 0, s>>>((const float*)in, (float*)out, (int)n);
  return launched();
}
extern "C" int k103_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k103_flip_b<<<dim3(n / 32, n / 32), dim3(32, 8), 0, s>>>((const float*)in, (float*)out, (int)n);
  return launched();
}
