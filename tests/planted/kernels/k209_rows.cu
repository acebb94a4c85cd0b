// RMS normalisation of rows of 2048 floats held in registers between the two uses.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k209_rows(const float4* __restrict__ in, float4* __restrict__ out) {
  __shared__ float scratch[32];
  __shared__ float scale;
  i64 i = blockIdx.x * 512ll + threadIdx.x;
  float4 u = in[i], v = in[i + 256];
  float a = (u.x * u.x + u.y * u.y) + (u.z * u.z + u.w * u.w) + (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
  a = block_sum(a, scratch);
  if (threadIdx.x == 0) scale = rsqrtf(a * (1.f / 2048.f) + 1e-6f);
  __syncthreads();
  float s = scale;
  out[i] = make_float4(u.x * s, u.y * s, u.z * s, u.w * s);
  out[i + 256] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}
extern "C" int k209_run(void* in, void* out, i64 rows, cudaStream_t s) {
  k209_rows<<<(unsigned)rows, 256, 0, s>>>((const float4*)in, (float4*)out);
  return launched();
}
