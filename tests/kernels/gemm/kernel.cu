// C = A B for fp16 row-major matrices with fp32 accumulation: 128 x 128 tiles on tensor cores
// (wmma), K in slices of 32 that cp.async brings ahead into padded shared memory.
// Extents that are no multiple of the tile take a plain kernel.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int BM = 128, BN = 128;
constexpr int BK = 32;
constexpr int STAGES = 3;  // kbs:tunable 2, 3, 4
constexpr int PAD = 8;     // kbs:tunable 0, 8
constexpr int THREADS = 256;
constexpr int WARPS_M = 2, WARPS_N = 4;
constexpr int WM = BM / WARPS_M, WN = BN / WARPS_N;  // 64 x 32 per warp
constexpr int FM = WM / 16, FN = WN / 16;
constexpr int A_STRIDE = BK + PAD, B_STRIDE = BN + PAD;
constexpr int A_TILE = BM * A_STRIDE, B_TILE = BK * B_STRIDE;
constexpr int C_STRIDE = BN + 4;
constexpr size_t LOOP_BYTES = sizeof(half) * STAGES * (A_TILE + B_TILE);
constexpr size_t C_BYTES = sizeof(float) * BM * C_STRIDE;
constexpr size_t SHARED_BYTES = LOOP_BYTES > C_BYTES ? LOOP_BYTES : C_BYTES;

__device__ __forceinline__ void load_slice(half* a_tile, half* b_tile, const half* a, const half* b,
                                           int row, int column, int depth, int N, int K) {
    // 16 bytes a copy: A has BM * BK / 8 of them, B has BK * BN / 8.
    for (int at = threadIdx.x; at < BM * BK / 8; at += THREADS) {
        const int r = at / (BK / 8), k = at % (BK / 8) * 8;
        __pipeline_memcpy_async(a_tile + r * A_STRIDE + k,
                                a + static_cast<size_t>(row + r) * K + depth + k, 16);
    }
    for (int at = threadIdx.x; at < BK * BN / 8; at += THREADS) {
        const int k = at / (BN / 8), n = at % (BN / 8) * 8;
        __pipeline_memcpy_async(b_tile + k * B_STRIDE + n,
                                b + static_cast<size_t>(depth + k) * N + column + n, 16);
    }
}

__global__ void __launch_bounds__(THREADS)
    gemm_tiles(const half* __restrict__ a, const half* __restrict__ b, half* __restrict__ c, int M,
               int N, int K) {
    extern __shared__ __align__(128) unsigned char shared[];
    half* a_tiles = reinterpret_cast<half*>(shared);
    half* b_tiles = a_tiles + STAGES * A_TILE;
    const int row = blockIdx.y * BM, column = blockIdx.x * BN;
    const int warp = threadIdx.x / 32;
    const int warp_m = warp / WARPS_N * WM, warp_n = warp % WARPS_N * WN;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[FM][FN];
#pragma unroll
    for (int m = 0; m < FM; ++m)
#pragma unroll
        for (int n = 0; n < FN; ++n) wmma::fill_fragment(sums[m][n], 0.0f);

    const int slices = K / BK;
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        if (stage < slices) {
            load_slice(a_tiles + stage * A_TILE, b_tiles + stage * B_TILE, a, b, row, column,
                       stage * BK, N, K);
        }
        __pipeline_commit();
    }
    for (int slice = 0; slice < slices; ++slice) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // the slice is here, and the stage that comes next was read by all
        const int next = slice + STAGES - 1;
        if (next < slices) {
            const int stage = next % STAGES;
            load_slice(a_tiles + stage * A_TILE, b_tiles + stage * B_TILE, a, b, row, column,
                       next * BK, N, K);
        }
        __pipeline_commit();
        const half* a_tile = a_tiles + slice % STAGES * A_TILE + warp_m * A_STRIDE;
        const half* b_tile = b_tiles + slice % STAGES * B_TILE + warp_n;
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[FM];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[FN];
#pragma unroll
            for (int m = 0; m < FM; ++m)
                wmma::load_matrix_sync(left[m], a_tile + m * 16 * A_STRIDE + k, A_STRIDE);
#pragma unroll
            for (int n = 0; n < FN; ++n)
                wmma::load_matrix_sync(right[n], b_tile + k * B_STRIDE + n * 16, B_STRIDE);
#pragma unroll
            for (int m = 0; m < FM; ++m)
#pragma unroll
                for (int n = 0; n < FN; ++n) wmma::mma_sync(sums[m][n], left[m], right[n], sums[m][n]);
        }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    float* c_tile = reinterpret_cast<float*>(shared);
#pragma unroll
    for (int m = 0; m < FM; ++m)
#pragma unroll
        for (int n = 0; n < FN; ++n)
            wmma::store_matrix_sync(c_tile + (warp_m + m * 16) * C_STRIDE + warp_n + n * 16,
                                    sums[m][n], C_STRIDE, wmma::mem_row_major);
    __syncthreads();
    for (int at = threadIdx.x; at < BM * BN / 2; at += THREADS) {
        const int r = at / (BN / 2), n = at % (BN / 2) * 2;
        const float2 pair = *reinterpret_cast<const float2*>(c_tile + r * C_STRIDE + n);
        *reinterpret_cast<half2*>(c + static_cast<size_t>(row + r) * N + column + n) =
            __floats2half2_rn(pair.x, pair.y);
    }
}

constexpr int EDGE = 16;

__global__ void __launch_bounds__(EDGE* EDGE)
    gemm_plain(const half* __restrict__ a, const half* __restrict__ b, half* __restrict__ c, int M,
               int N, int K) {
    __shared__ float a_tile[EDGE][EDGE], b_tile[EDGE][EDGE + 1];
    const int row = blockIdx.y * EDGE + threadIdx.y, column = blockIdx.x * EDGE + threadIdx.x;
    float sum = 0.0f;
    for (int depth = 0; depth < K; depth += EDGE) {
        const int ka = depth + threadIdx.x, kb = depth + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] =
            row < M && ka < K ? __half2float(a[static_cast<size_t>(row) * K + ka]) : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] =
            kb < K && column < N ? __half2float(b[static_cast<size_t>(kb) * N + column]) : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < EDGE; ++k) sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && column < N) c[static_cast<size_t>(row) * N + column] = __float2half(sum);
}

extern "C" void solve(const half* a, const half* b, half* c, int M, int N, int K) {
    if (M % BM == 0 && N % BN == 0 && K % BK == 0) {
        cudaFuncSetAttribute(gemm_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(SHARED_BYTES));
        gemm_tiles<<<dim3(N / BN, M / BM), THREADS, SHARED_BYTES>>>(a, b, c, M, N, K);
    } else {
        gemm_plain<<<dim3((N + EDGE - 1) / EDGE, (M + EDGE - 1) / EDGE), dim3(EDGE, EDGE)>>>(
            a, b, c, M, N, K);
    }
}
