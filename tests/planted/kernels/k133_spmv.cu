// CSR matrix times vector, a warp per row; a few hundred leading rows are very long. Fixed: rows
// cut into pieces of at most 512 entries, pieces added with atomics.
#include "common.cuh"

__device__ __forceinline__ float piece(const int* cols, const float* vals, const float* x, int a, int b) {
  float acc = 0.f;
#pragma unroll 4
  for (int j = a + (threadIdx.x & 31); j < b; j += 32) acc = fmaf(vals[j], __ldg(&x[cols[j]]), acc);
  return warp_sum(acc);
}

extern "C" __global__ void __launch_bounds__(256)
k133_spmv(const int* __restrict__ ptr, const int* __restrict__ cols, const float* __restrict__ vals,
          const float* __restrict__ x, float* __restrict__ y, int rows) {
  int r = blockIdx.x * 8 + (threadIdx.x >> 5);
  if (r >= rows) return;
  float a = piece(cols, vals, x, ptr[r], ptr[r + 1]);
  if ((threadIdx.x & 31) == 0) y[r] = a;
}

extern "C" __global__ void __launch_bounds__(256)
k133_spmv_b(const int4* __restrict__ items, const int* __restrict__ cols, const float* __restrict__ vals,
            const float* __restrict__ x, float* __restrict__ y, int count) {
  int w = blockIdx.x * 8 + (threadIdx.x >> 5);
  if (w >= count) return;
  int4 it = items[w];
  float a = piece(cols, vals, x, it.y, it.z);
  if ((threadIdx.x & 31) == 0) {
    if (it.w) atomicAdd(&y[it.x], a);
    else y[it.x] = a;
  }
}

extern "C" int k133_run(void* ptr, void*, void* cols, void* vals, void* x, void* y, i64 rows, i64,
                        i64, cudaStream_t s) {
  k133_spmv<<<blocks_for(rows, 8), 256, 0, s>>>((const int*)ptr, (const int*)cols, (const float*)vals,
                                               (const float*)x, (float*)y, (int)rows);
  return launched();
}
extern "C" int k133_fixed(void*, void* items, void* cols, void* vals, void* x, void* y, i64, i64 count,
                          i64 long_rows, cudaStream_t s) {
  cudaMemsetAsync(y, 0, long_rows * 4, s);
  k133_spmv_b<<<blocks_for(count, 8), 256, 0, s>>>((const int4*)items, (const int*)cols, (const float*)vals,
                                                  (const float*)x, (float*)y, (int)count);
  return launched();
}
