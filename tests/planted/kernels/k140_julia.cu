// Counts how many of a fixed number of Julia-set iterates stay inside the circle, one iterate per
// loop trip with a 64-bit counter. Fixed: 16 iterates per trip and 32-bit counts.
#include "common.cuh"

__device__ __forceinline__ void iterate(float& zx, float& zy, float cx, float cy) {
  float t = fmaf(zx, zx, fmaf(-zy, zy, cx));
  zy = fmaf(2.f * zx, zy, cy);
  zx = t;
}

extern "C" __global__ void __launch_bounds__(256)
k140_julia(int* __restrict__ out, i64 steps, int w, float scale) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float zx = (i % w) * scale - 1.f, zy = (i / w) * scale - 1.f;
  i64 inside = 0;
#pragma unroll 1
  for (i64 k = 0; k < steps; ++k) {
    iterate(zx, zy, -0.2f, 0.3f);
    inside += fmaf(zx, zx, zy * zy) < 0.2f;
  }
  out[i] = (int)inside;
}

extern "C" __global__ void __launch_bounds__(256)
k140_julia_b(int* __restrict__ out, int steps, int w, float scale) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float zx = (i % w) * scale - 1.f, zy = (i / w) * scale - 1.f;
  int inside = 0;
#pragma unroll 1
  for (int k = 0; k < steps; k += 16) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
      iterate(zx, zy, -0.2f, 0.3f);
      inside += fmaf(zx, zx, zy * zy) < 0.2f;
    }
  }
  out[i] = inside;
}

extern "C" int k140_run(void* out, i64 w, i64 steps, cudaStream_t s) {
  k140_julia<<<(unsigned)(w * w / 256), 256, 0, s>>>((int*)out, steps, (int)w, 2.f / w);
  return launched();
}
extern "C" int k140_fixed(void* out, i64 w, i64 steps, cudaStream_t s) {
  k140_julia_b<<<(unsigned)(w * w / 256), 256, 0, s>>>((int*)out, (int)steps, (int)w, 2.f / w);
  return launched();
}
