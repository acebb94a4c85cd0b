// Matrix product, a thread an element of the result.
__global__ void sgemm_naive(int M, int N, int K, const float* A, const float* B, float* C) {
  const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[row * K + i] * B[i * N + col];
    }
    C[row * N + col] = tmp;
  }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 gridDim((N + 31) / 32, (M + 31) / 32, 1);
  dim3 blockDim(32, 32, 1);
  sgemm_naive<<<gridDim, blockDim>>>(M, N, K, A, B, C);
}
