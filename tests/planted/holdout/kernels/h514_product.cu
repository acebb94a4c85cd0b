#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using bf16 = __nv_bfloat16;
constexpr int TILE = 64, DEPTH = 16, WIDE = 32;

// C = A B, all row-major, n x n; 64 x 64 per block, 4 x 4 per thread.
__global__ void __launch_bounds__(256) h514_product(const bf16* __restrict__ a,
                                                    const bf16* __restrict__ b,
                                                    float* __restrict__ c, int n) {
    __shared__ float sa[DEPTH][TILE + 4], sb[DEPTH][TILE];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float acc[4][4] = {};
    for (int k = 0; k < n; k += DEPTH) {
        int r = threadIdx.x / 4, q = threadIdx.x % 4 * 4;
        int d = threadIdx.x / 16, w = threadIdx.x % 16 * 4;
        bf16 fa[4], fb[4];
        *(uint2*)fa = *(const uint2*)(a + (size_t)(row + r) * n + k + q);
        *(uint2*)fb = *(const uint2*)(b + (size_t)(k + d) * n + column + w);
#pragma unroll
        for (int i = 0; i < 4; ++i) sa[q + i][r] = __bfloat162float(fa[i]);
#pragma unroll
        for (int i = 0; i < 4; ++i) sb[d][w + i] = __bfloat162float(fb[i]);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < DEPTH; ++kk) {
            float4 x = *(float4*)&sa[kk][ty * 4], y = *(float4*)&sb[kk][tx * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        *(float4*)&c[(size_t)(row + ty * 4 + i) * n + column + tx * 4] =
            make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

// The same tile by matrix instructions: four warps, 32 x 32 each.
__global__ void __launch_bounds__(128) h514_product_b(const bf16* __restrict__ a,
                                                      const bf16* __restrict__ b,
                                                      float* __restrict__ c, int n) {
    using namespace nvcuda;
    __shared__ __align__(32) bf16 sa[TILE][WIDE + 8], sb[WIDE][TILE + 8];
    int warp = threadIdx.x / 32, top = warp / 2 * 32, left = warp % 2 * 32;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(acc[i / 2][i % 2], 0.f);
    for (int k = 0; k < n; k += WIDE) {
#pragma unroll
        for (int piece = threadIdx.x; piece < 256; piece += 128) {
            int r = piece / 4, q = piece % 4 * 8, d = piece / 8, w = piece % 8 * 8;
            *(uint4*)&sa[r][q] = *(const uint4*)(a + (size_t)(row + r) * n + k + q);
            *(uint4*)&sb[d][w] = *(const uint4*)(b + (size_t)(k + d) * n + column + w);
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < WIDE; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> fb[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(fa[i], &sa[top + i * 16][kk], WIDE + 8);
                wmma::load_matrix_sync(fb[i], &sb[kk][left + i * 16], TILE + 8);
            }
            for (int i = 0; i < 4; ++i)
                wmma::mma_sync(acc[i / 2][i % 2], fa[i / 2], fb[i % 2], acc[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        size_t at = (size_t)(row + top + i / 2 * 16) * n + column + left + i % 2 * 16;
        wmma::store_matrix_sync(c + at, acc[i / 2][i % 2], n, wmma::mem_row_major);
    }
}

extern "C" int h514_run(const bf16* a, const bf16* b, float* c, long long n, cudaStream_t stream) {
    h514_product<<<dim3(n / TILE, n / TILE), 256, 0, stream>>>(a, b, c, n);
    return cudaGetLastError();
}

extern "C" int h514_fixed(const bf16* a, const bf16* b, float* c, long long n,
                          cudaStream_t stream) {
    h514_product_b<<<dim3(n / TILE, n / TILE), 128, 0, stream>>>(a, b, c, n);
    return cudaGetLastError();
}
