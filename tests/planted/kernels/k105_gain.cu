// Brightness gain on an 8-bit image: one byte per thread. Fixed: sixteen bytes per thread.
#include "common.cuh"

__device__ __forceinline__ uint32_t gain(uint32_t v, uint32_t g) { return min(255u, (v * g) >> 6); }

extern "C" __global__ void __launch_bounds__(256)
k105_gain(const uint8_t* __restrict__ in, uint8_t* __restrict__ out, uint32_t g, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i < n) out[i] = (uint8_t)gain(in[i], g);
}

__device__ __forceinline__ uint32_t gain4(uint32_t w, uint32_t g) {
  return gain(w & 255u, g) | gain((w >> 8) & 255u, g) << 8 | gain((w >> 16) & 255u, g) << 16 |
         gain(w >> 24, g) << 24;
}

extern "C" __global__ void __launch_bounds__(256)
k105_gain_b(const uint4* __restrict__ in, uint4* __restrict__ out, uint32_t g, i64 n) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  uint4 v = in[i];
  out[i] = make_uint4(gain4(v.x, g), gain4(v.y, g), gain4(v.z, g), gain4(v.w, g));
}

extern "C" int k105_run(void* in, void* out, i64 n, cudaStream_t s) {
  k105_gain<<<blocks_for(n, 256), 256, 0, s>>>((const uint8_t*)in, (uint8_t*)out, 90u, n);
  return launched();
}
extern "C" int k105_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k105_gain_b<<<blocks_for(n / 16, 256), 256, 0, s>>>((const uint4*)in, (uint4*)out, 90u, n / 16);
  return launched();
}
