// Sum of 128 hat functions per sample; centre and weight are fetched by every thread for every
// term. Fixed: eight samples per thread share each fetch.
#include "common.cuh"

constexpr int TERMS = 128;

template <int V>
__device__ __forceinline__ void hats(const float* c, const float* w, const float* x, float* y) {
  i64 base = blockIdx.x * (256ll * V) + threadIdx.x;
  float v[V], a[V];
#pragma unroll
  for (int k = 0; k < V; ++k) {
    v[k] = x[base + 256 * k];
    a[k] = 0.f;
  }
#pragma unroll 32
  for (int j = 0; j < TERMS; ++j) {
    float cj = c[j], wj = w[j];
#pragma unroll
    for (int k = 0; k < V; ++k) a[k] = fmaf(wj, fabsf(v[k] - cj), a[k]);
  }
#pragma unroll
  for (int k = 0; k < V; ++k) y[base + 256 * k] = a[k];
}

extern "C" __global__ void __launch_bounds__(256)
k142_kernels(const float* __restrict__ c, const float* __restrict__ w, const float* __restrict__ x,
             float* __restrict__ y) {
  hats<1>(c, w, x, y);
}
extern "C" __global__ void __launch_bounds__(256)
k142_kernels_b(const float* __restrict__ c, const float* __restrict__ w, const float* __restrict__ x,
               float* __restrict__ y) {
  hats<8>(c, w, x, y);
}

extern "C" int k142_run(void* c, void* w, void* x, void* y, i64 n, cudaStream_t s) {
  k142_kernels<<<(unsigned)(n / 256), 256, 0, s>>>((const float*)c, (const float*)w, (const float*)x, (float*)y);
  return launched();
}
extern "C" int k142_fixed(void* c, void* w, void* x, void* y, i64 n, cudaStream_t s) {
  k142_kernels_b<<<(unsigned)(n / 2048), 256, 0, s>>>((const float*)c, (const float*)w, (const float*)x, (float*)y);
  return launched();
}
