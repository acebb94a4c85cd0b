// Row sums of a row-major matrix. One thread walks one row; fixed: one warp per row.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k102_rowsum(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  int row = blockIdx.x * 256 + threadIdx.x;
  if (row >= rows) return;
  const float* r = in + (i64)row * cols;
  float a = 0.f, b = 0.f, c = 0.f, d = 0.f;
  for (int j = 0; j < cols; j += 4) {
    a += r[j];
    b += r[j + 1];
    c += r[j + 2];
    d += r[j + 3];
  }
  out[row] = (a + b) + (c + d);
}

extern "C" __global__ void __launch_bounds__(256)
k102_rowsum_b(const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  int row = blockIdx.x * 8 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
  if (row >= rows) return;
  const float* r = in + (i64)row * cols;
  float a = 0.f;
#pragma unroll 8
  for (int j = lane; j < cols; j += 32) a += r[j];
  a = warp_sum(a);
  if (lane == 0) out[row] = a;
}

extern "C" int k102_run(void* in, void* out, i64 rows, i64 cols, cudaStream_t s) {
  k102_rowsum<<<blocks_for(rows, 256), 256, 0, s>>>((const float*)in, (float*)out, (int)rows, (int)cols);
  return launched();
}
extern "C" int k102_fixed(void* in, void* out, i64 rows, i64 cols, cudaStream_t s) {
  k102_rowsum_b<<<blocks_for(rows, 8), 256, 0, s>>>((const float*)in, (float*)out, (int)rows, (int)cols);
  return launched();
}
