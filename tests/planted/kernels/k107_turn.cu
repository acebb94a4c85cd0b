// Tiled transpose, tile rows of 32 floats read by column. Fixed: rows padded to 33.
#include "common.cuh"

template <int PITCH>
__device__ __forceinline__ void turn(const float* in, float* out, int n, float (*tile)[PITCH]) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(i64)(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) out[(i64)(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void __launch_bounds__(256)
k107_turn(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[32][32];
  turn<32>(in, out, n, tile);
}
extern "C" __global__ void __launch_bounds__(256)
k107_turn_b(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[32][33];
  turn<33>(in, out, n, tile);
}

extern "C" int k107_run(void* in, void* out, i64 n, cudaStream_t s) {
  k107_turn<<<dim3(n / 32, n / 32), dim3(32, 8), 0, s>>>((const float*)in, (float*)out, (int)n);
  return launched();
}
extern "C" int k107_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k107_turn_b<<<dim3(n / 32, n / 32), dim3(32, 8), 0, s>>>((const float*)in, (float*)out, (int)n);
  return launched();
}
