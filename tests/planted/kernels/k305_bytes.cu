// Histogram of bytes (256 bins). Two things to cure: one byte per load (or sixteen), and updates in
// global memory (or in a private shared copy).
#include "common.cuh"

template <bool NARROW, bool GLOBAL>
__device__ __forceinline__ void count(const uint8_t* in, uint32_t* bins, i64 n) {
  __shared__ uint32_t sh[256];
  uint32_t* to = GLOBAL ? bins : sh;
  if (!GLOBAL) {
    sh[threadIdx.x] = 0;
    __syncthreads();
  }
  const i64 stride = gridDim.x * 256ll, start = blockIdx.x * 256ll + threadIdx.x;
  if (NARROW) {
#pragma unroll 1
    for (i64 i = start; i < n; i += stride) atomicAdd(&to[in[i]], 1u);
  } else {
#pragma unroll 1
    for (i64 i = start; i < n / 16; i += stride) {
      uint4 v = ((const uint4*)in)[i];
      const uint32_t w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int k = 0; k < 16; ++k) atomicAdd(&to[(w[k >> 2] >> (8 * (k & 3))) & 255u], 1u);
    }
  }
  if (!GLOBAL) {
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], sh[threadIdx.x]);
  }
}

extern "C" __global__ void __launch_bounds__(256)
k305_bytes(const uint8_t* __restrict__ in, uint32_t* __restrict__ bins, i64 n) {
  count<true, true>(in, bins, n);
}
extern "C" __global__ void __launch_bounds__(256)
k305_bytes_b(const uint8_t* __restrict__ in, uint32_t* __restrict__ bins, i64 n) {
  count<false, false>(in, bins, n);
}
extern "C" __global__ void __launch_bounds__(256)
k305_bytes_c(const uint8_t* __restrict__ in, uint32_t* __restrict__ bins, i64 n) {
  count<false, true>(in, bins, n);
}
extern "C" __global__ void __launch_bounds__(256)
k305_bytes_d(const uint8_t* __restrict__ in, uint32_t* __restrict__ bins, i64 n) {
  count<true, false>(in, bins, n);
}

extern "C" int k305_run(void* in, void* bins, i64 n, cudaStream_t s) {
  cudaMemsetAsync(bins, 0, 1024, s);
  k305_bytes<<<132 * 8, 256, 0, s>>>((const uint8_t*)in, (uint32_t*)bins, n);
  return launched();
}
extern "C" int k305_fixed(void* in, void* bins, i64 n, cudaStream_t s) {
  cudaMemsetAsync(bins, 0, 1024, s);
  k305_bytes_b<<<132 * 8, 256, 0, s>>>((const uint8_t*)in, (uint32_t*)bins, n);
  return launched();
}
extern "C" int k305_fix_narrow_global_access(void* in, void* bins, i64 n, cudaStream_t s) {
  cudaMemsetAsync(bins, 0, 1024, s);
  k305_bytes_c<<<132 * 8, 256, 0, s>>>((const uint8_t*)in, (uint32_t*)bins, n);
  return launched();
}
extern "C" int k305_fix_atomic_contention(void* in, void* bins, i64 n, cudaStream_t s) {
  cudaMemsetAsync(bins, 0, 1024, s);
  k305_bytes_d<<<132 * 8, 256, 0, s>>>((const uint8_t*)in, (uint32_t*)bins, n);
  return launched();
}
