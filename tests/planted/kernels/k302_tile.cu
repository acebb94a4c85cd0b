// Tiled transpose. Two things to cure: unpadded 32-float tile rows, and a dynamic buffer of 96 KB
// where one tile is used.
#include "common.cuh"

extern __shared__ float tile[];

template <int PITCH>
__device__ __forceinline__ void turn(const float* in, float* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) tile[(threadIdx.y + k) * PITCH + threadIdx.x] = in[(i64)(y + k) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int k = 0; k < 32; k += 8) out[(i64)(y + k) * n + x] = tile[threadIdx.x * PITCH + threadIdx.y + k];
}

extern "C" __global__ void __launch_bounds__(256)
k302_tile(const float* __restrict__ in, float* __restrict__ out, int n) {
  turn<32>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(256)
k302_tile_b(const float* __restrict__ in, float* __restrict__ out, int n) {
  turn<33>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(256)
k302_tile_c(const float* __restrict__ in, float* __restrict__ out, int n) {
  turn<33>(in, out, n);
}
extern "C" __global__ void __launch_bounds__(256)
k302_tile_d(const float* __restrict__ in, float* __restrict__ out, int n) {
  turn<32>(in, out, n);
}

template <typename K>
static int launch(K kernel, size_t bytes, void* in, void* out, i64 n, cudaStream_t s) {
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
  kernel<<<dim3(n / 32, n / 32), dim3(32, 8), bytes, s>>>((const float*)in, (float*)out, (int)n);
  return launched();
}
constexpr size_t BIG = 96 * 1024, SMALL = 32 * 33 * 4;

extern "C" int k302_run(void* in, void* out, i64 n, cudaStream_t s) {
  return launch(k302_tile, BIG, in, out, n, s);
}
extern "C" int k302_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  return launch(k302_tile_b, SMALL, in, out, n, s);
}
extern "C" int k302_fix_shared_bank_conflicts(void* in, void* out, i64 n, cudaStream_t s) {
  return launch(k302_tile_c, BIG, in, out, n, s);
}
extern "C" int k302_fix_occupancy_limited_shared(void* in, void* out, i64 n, cudaStream_t s) {
  return launch(k302_tile_d, SMALL, in, out, n, s);
}
