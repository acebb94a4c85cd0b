// Scores of 8 queries against every row of a large table, a warp per (row, query). Blocks walk the
// whole table for one query before the next; fixed: the 8 queries of a row run side by side.
#include "common.cuh"

constexpr int D = 1024;

__device__ __forceinline__ void score(const float* table, const float* q, float* out, i64 row,
                                      int query, i64 rows) {
  const int lane = threadIdx.x & 31;
  const float4* t = (const float4*)(table + row * D);
  const float4* v = (const float4*)(q + query * D);
  float a = 0.f;
#pragma unroll
  for (int j = 0; j < D / 128; ++j) {
    float4 x = __ldcg(&t[lane + 32 * j]), y = v[lane + 32 * j];
    a += (x.x * y.x + x.y * y.y) + (x.z * y.z + x.w * y.w);
  }
  a = warp_sum(a);
  if (lane == 0) out[query * rows + row] = a;
}

extern "C" __global__ void __launch_bounds__(256)
k117_scores(const float* __restrict__ table, const float* __restrict__ q, float* __restrict__ out, i64 rows) {
  score(table, q, out, blockIdx.x * 8ll + (threadIdx.x >> 5), blockIdx.y, rows);
}
extern "C" __global__ void __launch_bounds__(256)
k117_scores_b(const float* __restrict__ table, const float* __restrict__ q, float* __restrict__ out, i64 rows) {
  score(table, q, out, (blockIdx.x >> 3) * 8ll + (threadIdx.x >> 5), blockIdx.x & 7, rows);
}

extern "C" int k117_run(void* t, void* q, void* out, i64 rows, cudaStream_t s) {
  k117_scores<<<dim3(rows / 8, 8), 256, 0, s>>>((const float*)t, (const float*)q, (float*)out, rows);
  return launched();
}
extern "C" int k117_fixed(void* t, void* q, void* out, i64 rows, cudaStream_t s) {
  k117_scores_b<<<(unsigned)rows, 256, 0, s>>>((const float*)t, (const float*)q, (float*)out, rows);
  return launched();
}
