// fp32 GEMM on the FMA pipe: tiles copied asynchronously several steps ahead, 8 x 8 outputs per
// thread. Where a tile has fewer threads than WARPS asks for, groups of warps (slices) share the
// tile and each takes a part of its depth: small tiles fill the chip, slices hide latency.
#include <cstdint>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

constexpr int BM = 128;         // kbs:tunable 64, 128
constexpr int BN = 64;          // kbs:tunable 64, 128
constexpr int BK = 32;          // kbs:tunable 16, 32
constexpr int TN = 8;           // kbs:tunable 4, 8
constexpr int WARPS = 8;        // kbs:tunable 4, 8
constexpr int STAGES = 3;       // kbs:tunable 2, 3, 4
constexpr int RESIDENT = 2;     // kbs:tunable 1, 2
#define PAD_SMEM 1              // kbs:method smem_padding
constexpr int TM = 8;
constexpr int PLANE = (BM / TM) * (BN / TN);  // threads that hold one tile of outputs
constexpr int WANTED = 32 * WARPS / PLANE;
constexpr int SLICES = WANTED < 1 ? 1 : WANTED < BK / 8 ? WANTED : BK / 8;
constexpr int THREADS = SLICES * PLANE;
constexpr int BLOCKS = THREADS * RESIDENT > 512 ? 1 : RESIDENT;  // 128 registers a thread at least
constexpr int DEPTH = BK / SLICES;
constexpr int PITCH = BK + (PAD_SMEM ? 4 : 0);  // 16-byte reads of eight rows of a take all banks
constexpr int LEFT = BM * PITCH, RIGHT = BK * BN;
constexpr int PARTIAL = SLICES > 1 ? SLICES * BM * BN : 0;
constexpr int STAGED = STAGES * (LEFT + RIGHT);
constexpr int SHARED_BYTES = 4 * (STAGED > PARTIAL ? STAGED : PARTIAL);

// Four floats of which the first `inside` exist; zeros stand for the others.
template <bool VECTOR> __device__ inline void fetch(float *to, const float *from, int inside)
{
    if constexpr (VECTOR) {
        if (inside > 0)
            __pipeline_memcpy_async(to, from, 16);
        else
            *reinterpret_cast<float4 *>(to) = make_float4(0.f, 0.f, 0.f, 0.f);
    } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (i < inside)
                __pipeline_memcpy_async(to + i, from + i, 4);
            else
                to[i] = 0.f;
        }
    }
}

template <bool VECTOR> __device__ inline void put(float *to, float4 value, int inside)
{
    if constexpr (VECTOR) {
        if (inside > 0)
            *reinterpret_cast<float4 *>(to) = value;
    } else {
        const float parts[4] = {value.x, value.y, value.z, value.w};
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (i < inside)
                to[i] = parts[i];
    }
}

__device__ inline float4 &quad(float *at)
{
    return *reinterpret_cast<float4 *>(at);
}

// VECTOR: rows of a, b and out begin at multiples of 16 bytes and hold whole quads.
template <bool VECTOR>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    matmul_tiled(const float *__restrict__ a, const float *__restrict__ b,
                 float *__restrict__ out, int M, int N, int K)
{
    extern __shared__ float4 memory[];
    float *const left = reinterpret_cast<float *>(memory);  // [STAGES][BM][PITCH], as a lies
    float *const right = left + STAGES * LEFT;              // [STAGES][BK][BN]
    const int row0 = blockIdx.x * BM, column0 = blockIdx.y * BN;
    const int slice = threadIdx.x / PLANE, warp = threadIdx.x % PLANE / 32;
    // A warp is 4 x 8 threads. Neighbours in bit 0 read the same columns and neighbours in bit 1
    // the same rows, so that both kinds of 16-byte reads merge half a warp into one pass.
    const int lane = threadIdx.x % 32;
    const int ty = warp / (BN / TN / 8) * 4 + ((lane & 1) | ((lane >> 2) & 2));
    const int tx = warp % (BN / TN / 8) * 8 + (((lane >> 1) & 3) | ((lane >> 2) & 4));
    alignas(16) float total[TM][TN] = {};

    const int am = threadIdx.x / (BK / 4), ak = threadIdx.x % (BK / 4) * 4;
    const int bk = threadIdx.x / (BN / 4), bn = threadIdx.x % (BN / 4) * 4;
    const float *a_next = a + size_t(row0 + am) * K + ak;
    const float *b_next = b + size_t(bk) * N + column0 + bn;
    constexpr int A_ROWS = THREADS / (BK / 4), B_ROWS = THREADS / (BN / 4);
    // The next tiles of a and b, in order. Most lie inside whole, which one test tells.
    auto load = [&](int stage, int k0) {
        float *const a_to = left + stage * LEFT + am * PITCH + ak;
        float *const b_to = right + stage * RIGHT + bk * BN + bn;
        if (row0 + BM <= M && column0 + BN <= N && k0 + BK <= K) {
#pragma unroll
            for (int m = 0; m < BM; m += A_ROWS)
                if (BM % A_ROWS == 0 || am + m < BM)
                    fetch<VECTOR>(a_to + m * PITCH, a_next + size_t(m) * K, 4);
#pragma unroll
            for (int k = 0; k < BK; k += B_ROWS)
                if (BK % B_ROWS == 0 || bk + k < BK)
                    fetch<VECTOR>(b_to + k * BN, b_next + size_t(k) * N, 4);
        } else {
#pragma unroll 1
            for (int m = 0; am + m < BM; m += A_ROWS)
                fetch<VECTOR>(a_to + m * PITCH, a_next + size_t(m) * K,
                              row0 + am + m < M ? K - (k0 + ak) : 0);
#pragma unroll 1
            for (int k = 0; bk + k < BK; k += B_ROWS)
                fetch<VECTOR>(b_to + k * BN, b_next + size_t(k) * N,
                              k0 + bk + k < K ? N - (column0 + bn) : 0);
        }
        a_next += BK;
        b_next += size_t(BK) * N;
    };

    const int steps = (K + BK - 1) / BK;
#pragma unroll
    for (int step = 0; step < STAGES - 1; ++step) {
        if (step < steps)
            load(step, step * BK);
        __pipeline_commit();
    }
    int stage = 0;
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 2);
        // One barrier a step: this stage is there for all, and all are done with the one before,
        // which the next copies overwrite.
        __syncthreads();
        if (step + STAGES - 1 < steps)
            load(stage == 0 ? STAGES - 1 : stage - 1, (step + STAGES - 1) * BK);
        __pipeline_commit();
        float *const mine = left + stage * LEFT + ty * PITCH + slice * DEPTH;
        float *const other = right + stage * RIGHT + slice * DEPTH * BN + tx * 4;
#pragma unroll
        for (int k = 0; k < DEPTH; k += 4) {
            // four steps of depth at once, so that a needs no transposition
            alignas(16) float x[TM][4];
#pragma unroll
            for (int i = 0; i < TM; ++i)
                quad(x[i]) = quad(mine + i * (BM / TM) * PITCH + k);
#pragma unroll
            for (int d = 0; d < 4; ++d) {
                alignas(16) float y[TN];
#pragma unroll
                for (int j = 0; j < TN; j += 4)
                    quad(y + j) = quad(other + (k + d) * BN + j * (BN / TN));
#pragma unroll
                for (int i = 0; i < TM; ++i)
#pragma unroll
                    for (int j = 0; j < TN; ++j)
                        total[i][j] += x[i][d] * y[j];
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }

    if constexpr (SLICES == 1) {
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                const int m = row0 + ty + i * (BM / TM), n = column0 + tx * 4 + j * (BN / TN);
                if (m < M)
                    put<VECTOR>(out + size_t(m) * N + n, quad(&total[i][j]), N - n);
            }
    } else {
        // The slices are summed in a fixed order, so every run gives the same bits.
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TM; ++i)
#pragma unroll
            for (int j = 0; j < TN; j += 4)
                quad(left + (slice * BM + ty + i * (BM / TM)) * BN + tx * 4 + j * (BN / TN)) =
                    quad(&total[i][j]);
        __syncthreads();
#pragma unroll
        for (int i = threadIdx.x; i < BM * BN / 4; i += THREADS) {
            float4 sum = memory[i];
#pragma unroll
            for (int s = 1; s < SLICES; ++s) {
                const float4 more = memory[s * (BM * BN / 4) + i];
                sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
            }
            const int m = row0 + i / (BN / 4), n = column0 + i % (BN / 4) * 4;
            if (m < M)
                put<VECTOR>(out + size_t(m) * N + n, sum, N - n);
        }
    }
}

template <bool VECTOR>
void launch_tiles(const float *a, const float *b, float *out, int M, int N, int K)
{
    const dim3 grid((M + BM - 1) / BM, (N + BN - 1) / BN);
    cudaFuncSetAttribute(matmul_tiled<VECTOR>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         SHARED_BYTES);
    matmul_tiled<VECTOR><<<grid, THREADS, SHARED_BYTES>>>(a, b, out, M, N, K);
}

void launch(const float *a, const float *b, float *out, int M, int K, int N)
{
    const auto places = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                        reinterpret_cast<uintptr_t>(out);
    if (places % 16 == 0 && N % 4 == 0 && K % 4 == 0)
        launch_tiles<true>(a, b, out, M, N, K);
    else
        launch_tiles<false>(a, b, out, M, N, K);
}

// kbs:adapter
extern "C" void solve(const float *a, const float *b, float *out, int M, int N, int K)
{
    launch(a, b, out, M, K, N);
}
// kbs:end
