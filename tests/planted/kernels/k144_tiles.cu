// fp32 GEMM from 32x32 shared tiles, one output per thread. Fixed: 128x128 tiles with 8x8 outputs
// per thread. tf32 is not permitted here. Sizes are multiples of 128.
#include "common.cuh"
#include "sgemm_tile.cuh"

extern "C" __global__ void __launch_bounds__(1024, 2)
k144_tiles(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ float as[32][32], bs[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
  float acc = 0.f;
  for (int k0 = 0; k0 < n; k0 += 32) {
    as[ty][tx] = A[(i64)row * n + k0 + tx];
    bs[ty][tx] = B[(i64)(k0 + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) acc = fmaf(as[ty][k], bs[k][tx], acc);
    __syncthreads();
  }
  C[(i64)row * n + col] = acc;
}

extern "C" __global__ void __launch_bounds__(256, 2)
k144_tiles_b(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  sgemm_tile(A, B, C, n);
}

extern "C" int k144_run(void* A, void* B, void* C, i64 n, cudaStream_t s) {
  k144_tiles<<<dim3(n / 32, n / 32), dim3(32, 32), 0, s>>>((const float*)A, (const float*)B, (float*)C, (int)n);
  return launched();
}
extern "C" int k144_fixed(void* A, void* B, void* C, i64 n, cudaStream_t s) {
  k144_tiles_b<<<dim3(n / 128, n / 128), 256, 0, s>>>((const float*)A, (const float*)B, (float*)C, (int)n);
  return launched();
}
