// Table of |a_i - b_j|. A thread owns a row and walks 64 columns; fixed: a thread owns a column.
#include "common.cuh"

extern "C" __global__ void __launch_bounds__(256)
k104_dist(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int n) {
  int row = blockIdx.x * 256 + threadIdx.x;
  int j0 = blockIdx.y * 64;
  float v = a[row];
  float* o = out + (i64)row * n + j0;
  __shared__ float sb[64];
  if (threadIdx.x < 64) sb[threadIdx.x] = b[j0 + threadIdx.x];
  __syncthreads();
#pragma unroll 8
  for (int j = 0; j < 64; ++j) o[j] = fabsf(v - sb[j]);
}

extern "C" __global__ void __launch_bounds__(256)
k104_dist_b(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int n) {
  int col = blockIdx.x * 256 + threadIdx.x;
  int i0 = blockIdx.y * 64;
  float v = b[col];
  __shared__ float sa[64];
  if (threadIdx.x < 64) sa[threadIdx.x] = a[i0 + threadIdx.x];
  __syncthreads();
#pragma unroll 8
  for (int i = 0; i < 64; ++i) out[(i64)(i0 + i) * n + col] = fabsf(sa[i] - v);
}

extern "C" int k104_run(void* a, void* b, void* out, i64 n, cudaStream_t s) {
  k104_dist<<<dim3(n / 256, n / 64), 256, 0, s>>>((const float*)a, (const float*)b, (float*)out, (int)n);
  return launched();
}
extern "C" int k104_fixed(void* a, void* b, void* out, i64 n, cudaStream_t s) {
  k104_dist_b<<<dim3(n / 256, n / 64), 256, 0, s>>>((const float*)a, (const float*)b, (float*)out, (int)n);
  return launched();
}
