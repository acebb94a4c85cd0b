// Attention forward in fp32 on the FMA pipe: online softmax over tiles of keys; scores never leave
// the chip. A warp owns 32 queries, a thread 8 of them, by an eighth of the keys and of the head.
// Groups of warps share the queries of a block and each takes its own keys, so that a few queries
// still fill a multiprocessor; their results are joined at the end.
#include <cstdint>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int BLOCK_M = 64;  // kbs:tunable 32, 64, 128
constexpr int BLOCK_N = 32;  // kbs:tunable 32, 64
constexpr int WARPS = 8;     // kbs:tunable 4, 8
constexpr int UNROLL = 4;    // kbs:tunable 2, 4, 8
#define FAST_EXP 1           // kbs:method fast_math_intrinsics
#define PAD_SMEM 1           // kbs:method smem_padding
constexpr int THREADS = 32 * WARPS;
constexpr int GROUPS = THREADS / BLOCK_M;  // groups of warps, each with its own keys
constexpr int PAD = PAD_SMEM ? 4 : 0;      // 16-byte reads of eight rows take all banks
constexpr int ROWS = 8;                    // queries a thread holds, four rows apart
constexpr int LARGEST_BYTES = 160 * 1024;  // of shared memory, with which sm_80 still launches

// What a block with KEYS keys for each group holds, in floats.
template <int D, int KEYS> struct Layout {
    static constexpr int K = 0;                                        // [GROUPS * KEYS][D + PAD]
    static constexpr int V = K + GROUPS * KEYS * (D + PAD);            // [GROUPS * KEYS][D]
    static constexpr int P = V + GROUPS * KEYS * D;                    // [THREADS][KEYS + PAD]
    static constexpr int Q = P + THREADS * (KEYS + PAD);               // [BLOCK_M][D + PAD]
    static constexpr int LOOP = Q + BLOCK_M * (D + PAD);
    // After the loop the same memory holds the results, tops and totals of the groups.
    static constexpr int JOIN = THREADS * D + 2 * THREADS;
    static constexpr int BYTES = 4 * (LOOP > JOIN ? LOOP : JOIN);
};

// A thread with more than 64 values of the output has no registers for 64 scores.
template <int D> constexpr int keys_of()
{
    constexpr int WANTED = D > 64 && BLOCK_N > 32 ? 32 : BLOCK_N;
    return Layout<D, WANTED>::BYTES <= LARGEST_BYTES       ? WANTED
           : Layout<D, WANTED / 2>::BYTES <= LARGEST_BYTES ? WANTED / 2
                                                           : WANTED / 4;
}

#if FAST_EXP
constexpr float BASE = 1.4426950408889634f;  // scores in units of log 2: a power is one instruction
#else
constexpr float BASE = 1.f;
#endif

__device__ inline float power(float value)
{
#if FAST_EXP
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
#else
    return expf(value);
#endif
}

__device__ inline float4 &quad(float *at)
{
    return *reinterpret_cast<float4 *>(at);
}

// Four floats of global memory; aligned: at a multiple of 16 bytes.
__device__ inline float4 get(const float *from, bool aligned)
{
    return aligned ? __ldg(reinterpret_cast<const float4 *>(from))
                   : make_float4(from[0], from[1], from[2], from[3]);
}

// Rows begin .. begin + COUNT of a matrix of N rows; zeros stand for rows past its end.
template <int D, int COUNT, int PITCH>
__device__ inline void fetch(float *to, const float *from, int begin, int N, bool aligned)
{
    constexpr int PER_PASS = THREADS / (D / 4);
    const int row = threadIdx.x / (D / 4), d = threadIdx.x % (D / 4) * 4;
    to += row * PITCH + d;
    from += size_t(begin + row) * D + d;
    if (aligned && begin + COUNT <= N && COUNT % PER_PASS == 0) {
#pragma unroll
        for (int pass = 0; pass < COUNT; pass += PER_PASS)
            __pipeline_memcpy_async(to + pass * PITCH, from + pass * D, 16);
        return;
    }
#pragma unroll 1
    for (int pass = 0; pass + row < COUNT; pass += PER_PASS) {
        float *const here = to + pass * PITCH;
        if (begin + pass + row >= N)
            quad(here) = make_float4(0.f, 0.f, 0.f, 0.f);
        else if (aligned)
            __pipeline_memcpy_async(here, from + pass * D, 16);
        else
            for (int i = 0; i < 4; ++i)
                __pipeline_memcpy_async(here + i, from + pass * D + i, 4);
    }
}

template <int D, int KEYS>
__global__ void __launch_bounds__(THREADS)
    attention_forward(const float *__restrict__ q, const float *__restrict__ k,
                      const float *__restrict__ v, float *__restrict__ out, int M, int N,
                      float scale, bool causal, bool aligned)
{
    using At = Layout<D, KEYS>;
    constexpr int TILE = GROUPS * KEYS, WIDE = D + PAD, LONG = KEYS + PAD;
    constexpr int NK = KEYS / 8, ND = D / 8;  // keys and dims of the head that a thread holds
    extern __shared__ float4 memory[];
    float *const shared = reinterpret_cast<float *>(memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int group = warp / (BLOCK_M / 32), row0 = blockIdx.x * BLOCK_M;
    // A warp is 4 x 8 threads. Neighbours in bit 0 read the same keys and neighbours in bit 1 the
    // same queries, so that both kinds of 16-byte reads merge half a warp into one pass.
    const int ty = (lane & 1) | ((lane >> 2) & 2), tx = ((lane >> 1) & 3) | ((lane >> 2) & 4);
    const int first = warp % (BLOCK_M / 32) * 32 + ty;  // row i of this thread is first + 4 * i
    const size_t head = blockIdx.y;
    const float *const keys = k + head * N * D, *const values = v + head * N * D;
    const int last = causal ? min(N, row0 + BLOCK_M) : N;

    fetch<D, TILE, WIDE>(shared + At::K, keys, 0, N, aligned);
    __pipeline_commit();
    for (int i = threadIdx.x; i < BLOCK_M * D / 4; i += THREADS) {
        const int m = i / (D / 4), d = i % (D / 4) * 4;
        float4 value = make_float4(0.f, 0.f, 0.f, 0.f);
        if (row0 + m < M)
            value = get(q + (head * M + row0 + m) * D + d, aligned);
        quad(shared + At::Q + m * WIDE + d) = make_float4(
            value.x * scale, value.y * scale, value.z * scale, value.w * scale);
    }
    float *const q_mine = shared + At::Q + first * WIDE;
    float *const k_mine = shared + At::K + (group * KEYS + tx) * WIDE;
    float *const v_mine = shared + At::V + group * KEYS * D + tx * 4;
    float *const p_mine = shared + At::P + (warp * 32 + ty) * LONG;

    alignas(16) float result[ROWS][ND] = {};
    float top[ROWS], total[ROWS] = {};  // total: of the keys of this thread alone
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        top[i] = -CUDART_INF_F;

    for (int begin = 0; begin < last; begin += TILE) {
        const int mine = begin + group * KEYS;
        // No row of this warp sees these keys; the barriers still count all warps.
        const bool idle = mine >= last || (causal && mine > row0 + first - ty + 31);
        __pipeline_wait_prior(0);
        __syncthreads();  // the keys are there, and all are done with the values before
        fetch<D, TILE, D>(shared + At::V, values, begin, N, aligned);
        __pipeline_commit();
        if (!idle) {
            float scores[ROWS][NK] = {};
#pragma unroll UNROLL
            for (int d = 0; d < D; d += 4) {
                float4 y[NK];
#pragma unroll
                for (int j = 0; j < NK; ++j)
                    y[j] = quad(k_mine + j * 8 * WIDE + d);
#pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    const float4 x = quad(q_mine + i * 4 * WIDE + d);
#pragma unroll
                    for (int j = 0; j < NK; ++j) {
                        scores[i][j] += x.x * y[j].x;
                        scores[i][j] += x.y * y[j].y;
                        scores[i][j] += x.z * y[j].z;
                        scores[i][j] += x.w * y[j].w;
                    }
                }
            }
            if (mine + KEYS > N || (causal && mine + KEYS - 1 > row0 + first - ty)) {
#pragma unroll
                for (int i = 0; i < ROWS; ++i)
#pragma unroll
                    for (int j = 0; j < NK; ++j) {
                        const int n = mine + tx + 8 * j;
                        if (n >= N || (causal && n > row0 + first + 4 * i))
                            scores[i][j] = -CUDART_INF_F;
                    }
            }
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                float above = top[i];
#pragma unroll
                for (int j = 0; j < NK; ++j)
                    above = fmaxf(above, scores[i][j]);
                above = fmaxf(above, __shfl_xor_sync(~0u, above, 2));
                above = fmaxf(above, __shfl_xor_sync(~0u, above, 4));
                above = fmaxf(above, __shfl_xor_sync(~0u, above, 16));
                // While a row has seen no key, powers are of -inf - 0 and not of -inf + inf.
                const float base = above == -CUDART_INF_F ? 0.f : above;
                const float shrink = power(top[i] - base);
                top[i] = above;
                total[i] *= shrink;
#pragma unroll
                for (int j = 0; j < ND; ++j)
                    result[i][j] *= shrink;
#pragma unroll
                for (int j = 0; j < NK; ++j) {
                    const float weight = power(scores[i][j] - base);
                    total[i] += weight;
                    p_mine[i * 4 * LONG + tx + 8 * j] = weight;
                }
            }
        }
        __pipeline_wait_prior(0);
        __syncthreads();  // the values and weights are there, and all are done with the keys
        if (begin + TILE < last)
            fetch<D, TILE, WIDE>(shared + At::K, keys, begin + TILE, N, aligned);
        __pipeline_commit();
        if (!idle) {
#pragma unroll UNROLL / 2
            for (int n = 0; n < KEYS; n += 4) {
                alignas(16) float x[ROWS][4];
#pragma unroll
                for (int i = 0; i < ROWS; ++i)
                    quad(x[i]) = quad(p_mine + i * 4 * LONG + n);
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    alignas(16) float y[ND];
#pragma unroll
                    for (int j = 0; j < ND; j += 4)
                        quad(y + j) = quad(v_mine + (n + c) * D + j * 8);
#pragma unroll
                    for (int i = 0; i < ROWS; ++i)
#pragma unroll
                        for (int j = 0; j < ND; ++j)
                            result[i][j] += x[i][c] * y[j];
                }
            }
        }
    }

    __syncthreads();
    float *const tops = shared + THREADS * D, *const totals = tops + THREADS;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        total[i] += __shfl_xor_sync(~0u, total[i], 2);
        total[i] += __shfl_xor_sync(~0u, total[i], 4);
        total[i] += __shfl_xor_sync(~0u, total[i], 16);
        const int at = group * BLOCK_M + first + 4 * i;
        if (tx == 0) {
            tops[at] = top[i];
            totals[at] = total[i];
        }
#pragma unroll
        for (int j = 0; j < ND; j += 4)
            quad(shared + at * D + tx * 4 + j * 8) = quad(&result[i][j]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BLOCK_M * D / 4; i += THREADS) {
        const int m = i / (D / 4), d = i % (D / 4) * 4;
        float above = tops[m];
#pragma unroll
        for (int g = 1; g < GROUPS; ++g)
            above = fmaxf(above, tops[g * BLOCK_M + m]);
        const float base = above == -CUDART_INF_F ? 0.f : above;
        float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
        float all = 0.f;
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            const float weight = power(tops[g * BLOCK_M + m] - base);
            const float4 part = quad(shared + (g * BLOCK_M + m) * D + d);
            all += weight * totals[g * BLOCK_M + m];
            sum = make_float4(sum.x + weight * part.x, sum.y + weight * part.y,
                              sum.z + weight * part.z, sum.w + weight * part.w);
        }
        if (row0 + m >= M)
            continue;
        float *const to = out + (head * M + row0 + m) * D + d;
        sum = make_float4(sum.x / all, sum.y / all, sum.z / all, sum.w / all);
        if (aligned) {
            quad(to) = sum;
        } else {
            to[0] = sum.x;
            to[1] = sum.y;
            to[2] = sum.z;
            to[3] = sum.w;
        }
    }
}

template <int D>
void launch_heads(const float *q, const float *k, const float *v, float *out, int heads, int M,
                  int N, bool causal, bool scaled)
{
    constexpr int KEYS = keys_of<D>(), BYTES = Layout<D, KEYS>::BYTES;
    const float scale = BASE * (scaled ? 1.f / sqrtf(float(D)) : 1.f);
    const auto places = reinterpret_cast<uintptr_t>(q) | reinterpret_cast<uintptr_t>(k) |
                        reinterpret_cast<uintptr_t>(v) | reinterpret_cast<uintptr_t>(out);
    const dim3 grid((M + BLOCK_M - 1) / BLOCK_M, heads);
    cudaFuncSetAttribute(attention_forward<D, KEYS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         BYTES);
    attention_forward<D, KEYS><<<grid, THREADS, BYTES>>>(q, k, v, out, M, N, scale, causal,
                                                         places % 16 == 0);
}

void launch(const float *q, const float *k, const float *v, float *out, int heads, int M, int D,
            int N, bool causal, bool scaled)
{
    if (D == 128)
        launch_heads<128>(q, k, v, out, heads, M, N, causal, scaled);
    else if (D == 96)
        launch_heads<96>(q, k, v, out, heads, M, N, causal, scaled);
    else if (D == 64)
        launch_heads<64>(q, k, v, out, heads, M, N, causal, scaled);
    else if (D == 32)
        launch_heads<32>(q, k, v, out, heads, M, N, causal, scaled);
}

// kbs:adapter
extern "C" void solve(const float *q, const float *k, const float *v, float *out, int B, int M,
                      int D, int N)
{
    launch(q, k, v, out, B, M, D, N, false, true);
}
// kbs:end
