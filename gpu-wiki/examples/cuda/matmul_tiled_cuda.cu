// fp32 GEMM on the FMA pipe: shared-memory tiles, 8 x 8 outputs per thread, double buffering.
#include <cuda_runtime.h>

constexpr int BM = 128;         // kbs:tunable 64, 128
constexpr int BN = 128;         // kbs:tunable 64, 128
constexpr int BK = 8;           // kbs:tunable 8, 16
#define PAD_SMEM 1              // kbs:method smem_padding
constexpr int TM = 8, TN = 8;
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int PAD = PAD_SMEM ? 4 : 0;

__global__ void __launch_bounds__(THREADS) matmul_tiled(const float *__restrict__ a,
                                                        const float *__restrict__ b,
                                                        float *__restrict__ out, int M, int N,
                                                        int K)
{
    __shared__ float left[2][BK][BM + PAD];
    __shared__ float right[2][BK][BN + PAD];
    const int row0 = blockIdx.y * BM, column0 = blockIdx.x * BN;
    const int ty = threadIdx.x / (BN / TN), tx = threadIdx.x % (BN / TN);
    float total[TM][TN] = {};

    auto load = [&](int buffer, int k0) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int m = i / BK, k = i % BK;
            const bool inside = row0 + m < M && k0 + k < K;
            left[buffer][k][m] = inside ? a[size_t(row0 + m) * K + k0 + k] : 0.f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int k = i / BN, n = i % BN;
            const bool inside = column0 + n < N && k0 + k < K;
            right[buffer][k][n] = inside ? b[size_t(k0 + k) * N + column0 + n] : 0.f;
        }
    };

    load(0, 0);
    __syncthreads();
    const int steps = (K + BK - 1) / BK;
    for (int step = 0; step < steps; ++step) {
        const int buffer = step % 2;
        if (step + 1 < steps)
            load(1 - buffer, (step + 1) * BK);
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float x[TM], y[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i)
                x[i] = left[buffer][k][ty * TM + i];
#pragma unroll
            for (int j = 0; j < TN; ++j)
                y[j] = right[buffer][k][tx + j * (BN / TN)];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j)
                    total[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int m = row0 + ty * TM + i, n = column0 + tx + j * (BN / TN);
            if (m < M && n < N)
                out[size_t(m) * N + n] = total[i][j];
        }
}

void launch(const float *a, const float *b, float *out, int M, int K, int N)
{
    const dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_tiled<<<grid, THREADS>>>(a, b, out, M, N, K);
}

// kbs:adapter
extern "C" void solve(const float *a, const float *b, float *out, int M, int N, int K)
{
    launch(a, b, out, M, K, N);
}
// kbs:end
