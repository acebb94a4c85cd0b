// Matrix product with tiles in shared memory and registers, dimensions that divide.
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    sgemm_2d(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const int threads = (BM * BN) / (TM * TN);
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  const int tr = threadIdx.x / (BN / TN), tc = threadIdx.x % (BN / TN);
  float acc[TM * TN] = {0.0f};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += threads) As[i] = A[(row0 + i / BK) * K + k0 + i % BK];
    for (int i = threadIdx.x; i < BK * BN; i += threads) Bs[i] = B[(k0 + i / BN) * N + col0 + i % BN];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) acc[i * TN + j] += As[(tr * TM + i) * BK + k] * Bs[k * BN + tc * TN + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) C[(row0 + tr * TM + i) * N + col0 + tc * TN + j] = acc[i * TN + j];
  }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 grid(N / 64, M / 64);
  sgemm_2d<64, 64, 8, 4, 4><<<grid, 256>>>(M, N, K, A, B, C);
}
