// 128x128x16 fp32 GEMM tile, 256 threads, 8x8 outputs per thread, double-buffered.
#pragma once
#include "common.cuh"

__device__ __forceinline__ void sgemm_tile(const float* A, const float* B, float* C, int n) {
  constexpr int T = 128, KT = 16;
  __shared__ __align__(16) float as[2][KT][T + 4];
  __shared__ __align__(16) float bs[2][KT][T];
  const int t = threadIdx.x, tx = t & 15, ty = t >> 4;
  const int ar = t >> 1, ak = (t & 1) * 8, bk = t >> 4, bc = (t & 15) * 8;
  const float* ap = A + (i64)(blockIdx.y * T + ar) * n + ak;
  const float* bp = B + (i64)bk * n + blockIdx.x * T + bc;
  float4 ra[2], rb[2];
  ra[0] = *(const float4*)ap;
  ra[1] = *(const float4*)(ap + 4);
  rb[0] = *(const float4*)bp;
  rb[1] = *(const float4*)(bp + 4);
  float acc[8][8] = {};
  int buf = 0;
  for (int k0 = 0; k0 < n; k0 += KT, buf ^= 1) {
    const float* fa = (const float*)ra;
#pragma unroll
    for (int j = 0; j < 8; ++j) as[buf][ak + j][ar] = fa[j];
    *(float4*)&bs[buf][bk][bc] = rb[0];
    *(float4*)&bs[buf][bk][bc + 4] = rb[1];
    __syncthreads();
    if (k0 + KT < n) {
      const float* p = ap + k0 + KT;
      const float* q = bp + (i64)(k0 + KT) * n;
      ra[0] = *(const float4*)p;
      ra[1] = *(const float4*)(p + 4);
      rb[0] = *(const float4*)q;
      rb[1] = *(const float4*)(q + 4);
    }
#pragma unroll
    for (int k = 0; k < KT; ++k) {
      float a[8], b[8];
      *(float4*)&a[0] = *(const float4*)&as[buf][k][ty * 4];
      *(float4*)&a[4] = *(const float4*)&as[buf][k][64 + ty * 4];
      *(float4*)&b[0] = *(const float4*)&bs[buf][k][tx * 4];
      *(float4*)&b[4] = *(const float4*)&bs[buf][k][64 + tx * 4];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    int row = blockIdx.y * T + (i >> 2) * 64 + ty * 4 + (i & 3);
    float* c = C + (i64)row * n + blockIdx.x * T + tx * 4;
    *(float4*)c = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    *(float4*)(c + 64) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
  }
}
