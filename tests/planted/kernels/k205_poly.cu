// Degree-384 polynomial by Horner's rule, eight independent values per thread.
#include "common.cuh"

constexpr int DEG = 384;
__device__ __forceinline__ float coef(int k) { return (k % 3 ? 1.f : -1.f) / (1.f + 0.25f * (k % 64)); }

extern "C" __global__ void __launch_bounds__(256)
k205_poly(const float4* __restrict__ in, float4* __restrict__ out) {
  i64 i = blockIdx.x * 512ll + threadIdx.x;
  float4 p = in[i], q = in[i + 256];
  float x[8] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w}, a[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) a[j] = 0.5f;
#pragma unroll 1
  for (int r = 0; r < DEG / 64; ++r) {
#pragma unroll
    for (int k = 0; k < 64; ++k) {
#pragma unroll
      for (int j = 0; j < 8; ++j) a[j] = fmaf(a[j], x[j], coef(k));
    }
  }
  out[i] = make_float4(a[0], a[1], a[2], a[3]);
  out[i + 256] = make_float4(a[4], a[5], a[6], a[7]);
}
extern "C" int k205_run(void* in, void* out, i64 n, cudaStream_t s) {
  k205_poly<<<(unsigned)(n / 2048), 256, 0, s>>>((const float4*)in, (float4*)out);
  return launched();
}
