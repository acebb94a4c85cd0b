// 16,384 filter steps written out in full (262 KB of code). Fixed: the same steps in a loop of 256.
#include "common.cuh"

constexpr int STEPS = 4096, BODY = 64;
__device__ __forceinline__ float coef(int k) { return 0.001f * (float)((k % BODY) + 1); }

template <int LEN>
__device__ __forceinline__ void steps(float (&v)[4], float x) {
#pragma unroll
  for (int k = 0; k < LEN; ++k) {
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = fmaf(v[j], x, coef(k));
  }
}

extern "C" __global__ void __launch_bounds__(256)
k129_filter(const float4* __restrict__ in, float4* __restrict__ out, float x) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  float4 q = in[i];
  float v[4] = {q.x, q.y, q.z, q.w};
  steps<STEPS / 8>(v, x);
  steps<STEPS / 8>(v, x);
  steps<STEPS / 8>(v, x);
  steps<STEPS / 8>(v, x);
  steps<STEPS / 8>(v, x);
  steps<STEPS / 8>(v, x);
  steps<STEPS / 8>(v, x);
  steps<STEPS / 8>(v, x);
  out[i] = make_float4(v[0], v[1], v[2], v[3]);
}

extern "C" __global__ void __launch_bounds__(256)
k129_filter_b(const float4* __restrict__ in, float4* __restrict__ out, float x) {
  i64 i = blockIdx.x * 256ll + threadIdx.x;
  float4 q = in[i];
  float v[4] = {q.x, q.y, q.z, q.w};
#pragma unroll 1
  for (int r = 0; r < STEPS / BODY; ++r) steps<BODY>(v, x);
  out[i] = make_float4(v[0], v[1], v[2], v[3]);
}

extern "C" int k129_run(void* in, void* out, i64 n, cudaStream_t s) {
  k129_filter<<<(unsigned)(n / 1024), 256, 0, s>>>((const float4*)in, (float4*)out, 1.0005f);
  return launched();
}
extern "C" int k129_fixed(void* in, void* out, i64 n, cudaStream_t s) {
  k129_filter_b<<<(unsigned)(n / 1024), 256, 0, s>>>((const float4*)in, (float4*)out, 1.0005f);
  return launched();
}
