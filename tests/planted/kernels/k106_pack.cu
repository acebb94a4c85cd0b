// Four float planes to interleaved 8-bit pixels, one channel per block row (one byte of every
// four is stored at a time). Fixed: a thread packs the whole pixel.
#include "common.cuh"

__device__ __forceinline__ uint32_t q8(float v) {
  return (uint32_t)__float2int_rn(fminf(fmaxf(v, 0.f), 1.f) * 255.f);
}

extern "C" __global__ void __launch_bounds__(256)
k106_pack(const float* __restrict__ planes, uint8_t* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 1024ll + threadIdx.x;
  int c = blockIdx.y;
#pragma unroll
  for (int k = 0; k < 4; ++k) out[4 * (i + 256 * k) + c] = (uint8_t)q8(planes[c * n + i + 256 * k]);
}

extern "C" __global__ void __launch_bounds__(256)
k106_pack_b(const float* __restrict__ planes, uint32_t* __restrict__ out, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  out[i] = q8(planes[i]) | q8(planes[n + i]) << 8 | q8(planes[2 * n + i]) << 16 |
           q8(planes[3 * n + i]) << 24;
}

extern "C" int k106_run(void* planes, void* out, i64 n, cudaStream_t s) {
  k106_pack<<<dim3(blocks_for(n, 1024), 4), 256, 0, s>>>((const float*)planes, (uint8_t*)out, n);
  return launched();
}
extern "C" int k106_fixed(void* planes, void* out, i64 n, cudaStream_t s) {
  k106_pack_b<<<blocks_for(n, 256), 256, 0, s>>>((const float*)planes, (uint32_t*)out, n);
  return launched();
}
