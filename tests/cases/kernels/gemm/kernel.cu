// GEMM as a beginner writes it: one thread for each element, no reuse.
extern "C" __global__ void gemm_naive(const float *a, const float *b, float *out, int M, int N,
                                      int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N)
        return;
    float total = 0;
    for (int k = 0; k < K; k++)
        total += a[row * K + k] * b[k * N + column];
    out[row * N + column] = total;
}

extern "C" void solve(const float *a, const float *b, float *out, int M, int N, int K)
{
    dim3 block(16, 16);
    dim3 grid((N + 15) / 16, (M + 15) / 16);
    gemm_naive<<<grid, block>>>(a, b, out, M, N, K);
}
