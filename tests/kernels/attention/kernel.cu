// Attention forward for fp16 heads of 64 or 128, without the score matrix in memory.
// A block of four warps holds 64 queries; keys and values pass through shared memory in blocks
// of 64 that cp.async brings ahead. Scores and weights stay in registers: the accumulator layout
// of mma.m16n8k16 is the layout of its first operand, so the weights feed the second product.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <math_constants.h>

#include <cstdint>

constexpr int BQ = 64, BK = 64;
constexpr int THREADS = 128;
constexpr int PAD = 8;  // halves: rows fall on other banks
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ uint32_t shared_address(const half* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], const half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}

__device__ __forceinline__ void load_transposed(uint32_t (&r)[4], const half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}

__device__ __forceinline__ uint32_t packed(float low, float high) {
    const half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<const uint32_t*>(&pair);
}

// Rows beyond `rows` are filled with zeros: a weight of zero times what stands there must be zero.
template <int D>
__device__ __forceinline__ void load_rows(half* tile, const half* source, int rows) {
    for (int at = threadIdx.x; at < BK * D / 8; at += THREADS) {
        const int row = at / (D / 8), column = at % (D / 8) * 8;
        half* target = tile + row * (D + PAD) + column;
        if (row < rows) {
            __pipeline_memcpy_async(target, source + static_cast<size_t>(row) * D + column, 16);
        } else {
            *reinterpret_cast<uint4*>(target) = make_uint4(0, 0, 0, 0);
        }
    }
}

template <int D>
constexpr size_t shared_bytes() {
    return sizeof(half) * (D + PAD) * (BQ + 4 * BK);
}

template <int D>
__global__ void __launch_bounds__(THREADS, 2)
    attention_forward(const half* __restrict__ q, const half* __restrict__ k,
                      const half* __restrict__ v, half* __restrict__ out, int length, float scale) {
    constexpr int STRIDE = D + PAD;
    extern __shared__ __align__(128) half shared[];
    half* q_tile = shared;
    half* k_tiles = q_tile + BQ * STRIDE;      // two of them
    half* v_tiles = k_tiles + 2 * BK * STRIDE;  // two of them
    const size_t head = static_cast<size_t>(blockIdx.y) * length * D;
    const int first = blockIdx.x * BQ;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int group = lane / 4, quad = lane % 4;

    load_rows<D>(q_tile, q + head + static_cast<size_t>(first) * D, length - first);
    load_rows<D>(k_tiles, k + head, length);
    load_rows<D>(v_tiles, v + head, length);
    __pipeline_commit();

    float sums[D / 8][4] = {};
    float peak[2] = {-CUDART_INF_F, -CUDART_INF_F};
    float total[2] = {0.0f, 0.0f};
    uint32_t query[D / 16][4];
    const int blocks = (length + BK - 1) / BK;
    for (int block = 0; block < blocks; ++block) {
        const int stage = block % 2;
        __pipeline_wait_prior(0);
        __syncthreads();  // this block is here, and the other stage was read by all
        if (block + 1 < blocks) {
            const int start = (block + 1) * BK;
            const size_t at = head + static_cast<size_t>(start) * D;
            load_rows<D>(k_tiles + (1 - stage) * BK * STRIDE, k + at, length - start);
            load_rows<D>(v_tiles + (1 - stage) * BK * STRIDE, v + at, length - start);
        }
        __pipeline_commit();
        const half* k_tile = k_tiles + stage * BK * STRIDE;
        const half* v_tile = v_tiles + stage * BK * STRIDE;
        if (block == 0) {
#pragma unroll
            for (int d = 0; d < D / 16; ++d)
                load_matrices(query[d], q_tile + (warp * 16 + lane % 16) * STRIDE + d * 16 + lane / 16 * 8);
        }

        // Scores: 16 queries of this warp times 64 keys. Four 8 x 8 matrices of K per load: keys
        // n..n+7 and depths 0, 8, 16, 24 of two steps of 16.
        float scores[BK / 8][4] = {};
#pragma unroll
        for (int n = 0; n < BK / 8; ++n) {
#pragma unroll
            for (int d = 0; d < D / 32; ++d) {
                uint32_t keys[4];
                load_matrices(keys, k_tile + (n * 8 + lane % 8) * STRIDE + d * 32 + lane / 8 * 8);
                mma(scores[n], query[2 * d], keys[0], keys[1]);
                mma(scores[n], query[2 * d + 1], keys[2], keys[3]);
            }
        }
        const int left = length - block * BK;
        float higher[2] = {peak[0], peak[1]};
#pragma unroll
        for (int n = 0; n < BK / 8; ++n) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int key = n * 8 + quad * 2 + i % 2;
                scores[n][i] = key < left ? scores[n][i] * scale : -CUDART_INF_F;
                higher[i / 2] = fmaxf(higher[i / 2], scores[n][i]);
            }
        }
        float shrink[2], added[2] = {0.0f, 0.0f};
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            higher[r] = fmaxf(higher[r], __shfl_xor_sync(ALL, higher[r], 1));
            higher[r] = fmaxf(higher[r], __shfl_xor_sync(ALL, higher[r], 2));
            shrink[r] = exp2f(peak[r] - higher[r]);
            peak[r] = higher[r];
        }
#pragma unroll
        for (int n = 0; n < BK / 8; ++n) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                scores[n][i] = exp2f(scores[n][i] - peak[i / 2]);
                added[i / 2] += scores[n][i];
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) total[r] = total[r] * shrink[r] + added[r];
#pragma unroll
        for (int d = 0; d < D / 8; ++d) {
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[d][i] *= shrink[i / 2];
        }

        // Values: weights of 16 keys a step; four matrices per load: keys 0-7 and 8-15 of two
        // neighbouring columns of 8.
#pragma unroll
        for (int n = 0; n < BK / 16; ++n) {
            const uint32_t weights[4] = {packed(scores[2 * n][0], scores[2 * n][1]),
                                         packed(scores[2 * n][2], scores[2 * n][3]),
                                         packed(scores[2 * n + 1][0], scores[2 * n + 1][1]),
                                         packed(scores[2 * n + 1][2], scores[2 * n + 1][3])};
#pragma unroll
            for (int d = 0; d < D / 16; ++d) {
                uint32_t values[4];
                load_transposed(values,
                                v_tile + (n * 16 + lane % 16) * STRIDE + d * 16 + lane / 16 * 8);
                mma(sums[2 * d], weights, values[0], values[1]);
                mma(sums[2 * d + 1], weights, values[2], values[3]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        total[r] += __shfl_xor_sync(ALL, total[r], 1);
        total[r] += __shfl_xor_sync(ALL, total[r], 2);
        const int row = first + warp * 16 + group + r * 8;
        if (row >= length) continue;
        const float factor = 1.0f / total[r];
        half* result = out + head + static_cast<size_t>(row) * D + quad * 2;
#pragma unroll
        for (int d = 0; d < D / 8; ++d) {
            *reinterpret_cast<half2*>(result + d * 8) =
                __floats2half2_rn(sums[d][2 * r] * factor, sums[d][2 * r + 1] * factor);
        }
    }
}

template <int D>
void launch(const half* q, const half* k, const half* v, half* out, int heads, int length) {
    constexpr size_t bytes = shared_bytes<D>();
    cudaFuncSetAttribute(attention_forward<D>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(bytes));
    // exp2 of scores in units of ln 2 is exp of the scores.
    const float scale = 1.4426950408889634f / sqrtf(static_cast<float>(D));
    attention_forward<D>
        <<<dim3((length + BQ - 1) / BQ, heads), THREADS, bytes>>>(q, k, v, out, length, scale);
}

extern "C" void solve(const half* q, const half* k, const half* v, half* out, int B, int H, int S,
                      int D) {
    if (D == 64) launch<64>(q, k, v, out, B * H, S);
    if (D == 128) launch<128>(q, k, v, out, B * H, S);
}
