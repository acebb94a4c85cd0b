// Triad a = b + s * c, 16 bytes per access.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k202_triad(const float4* __restrict__ b, const float4* __restrict__ c, float4* __restrict__ a, float s) {
  i64 i = blockIdx.x * 512ll + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 2; ++k, i += 256) {
    float4 x = b[i], y = c[i];
    a[i] = make_float4(fmaf(s, y.x, x.x), fmaf(s, y.y, x.y), fmaf(s, y.z, x.z), fmaf(s, y.w, x.w));
  }
}
extern "C" int k202_run(void* b, void* c, void* a, i64 n, cudaStream_t s) {
  k202_triad<<<(unsigned)(n / 2048), 256, 0, s>>>((const float4*)b, (const float4*)c, (float4*)a, 3.f);
  return launched();
}
