// Softmax over rows: a block per row, 16-byte loads, the row kept in registers, warp shuffles.
#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int THREADS = 256;        // kbs:tunable 128, 256, 512, 1024
#define FAST_EXP 1                  // kbs:method fast_math_intrinsics
#define STREAM_STORES 0             // kbs:method streaming_stores
constexpr int KEPT = 16;            // float4 values that a thread keeps; longer rows are read again

__device__ inline float power(float value)
{
#if FAST_EXP
    return __expf(value);
#else
    return expf(value);
#endif
}

__device__ inline void put(float4 *to, float4 value)
{
#if STREAM_STORES
    __stcs(to, value);
#else
    *to = value;
#endif
}

__device__ inline float2 join(float2 a, float2 b)  // (maximum, sum of powers below it)
{
    const float top = fmaxf(a.x, b.x);
    if (top == -CUDART_INF_F)
        return make_float2(top, 0.f);
    return make_float2(top, a.y * power(a.x - top) + b.y * power(b.x - top));
}

__device__ float2 join_block(float2 mine)
{
    __shared__ float2 warps[32];
    for (int step = 16; step > 0; step /= 2) {
        const float2 other = make_float2(__shfl_xor_sync(~0u, mine.x, step),
                                         __shfl_xor_sync(~0u, mine.y, step));
        mine = join(mine, other);
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
        warps[warp] = mine;
    __syncthreads();
    mine = lane < THREADS / 32 ? warps[lane] : make_float2(-CUDART_INF_F, 0.f);
    for (int step = 16; step > 0; step /= 2) {
        const float2 other = make_float2(__shfl_xor_sync(~0u, mine.x, step),
                                         __shfl_xor_sync(~0u, mine.y, step));
        mine = join(mine, other);
    }
    return mine;
}

__device__ inline float2 include(float2 state, float4 v)
{
    const float top = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    if (top == -CUDART_INF_F)
        return state;
    const float sum = power(v.x - top) + power(v.y - top) + power(v.z - top) + power(v.w - top);
    return join(state, make_float2(top, sum));
}

__global__ void __launch_bounds__(THREADS) softmax_rows(const float4 *__restrict__ x,
                                                        float4 *__restrict__ out, int quads,
                                                        bool logarithm)
{
    const float4 *row = x + size_t(blockIdx.x) * quads;
    float4 *to = out + size_t(blockIdx.x) * quads;
    float4 kept[KEPT];
    float2 state = make_float2(-CUDART_INF_F, 0.f);
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        const int at = i * THREADS + threadIdx.x;
        if (at < quads) {
            kept[i] = __ldg(row + at);
            state = include(state, kept[i]);
        }
    }
    for (int at = KEPT * THREADS + threadIdx.x; at < quads; at += THREADS)
        state = include(state, __ldg(row + at));
    state = join_block(state);
    const float top = state.x, scale = 1.f / state.y, shift = top + logf(state.y);
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        const int at = i * THREADS + threadIdx.x;
        if (at < quads) {
            const float4 v = kept[i];
            put(to + at, logarithm
                ? make_float4(v.x - shift, v.y - shift, v.z - shift, v.w - shift)
                : make_float4(power(v.x - top) * scale, power(v.y - top) * scale,
                              power(v.z - top) * scale, power(v.w - top) * scale));
        }
    }
    for (int at = KEPT * THREADS + threadIdx.x; at < quads; at += THREADS) {
        const float4 v = __ldg(row + at);
        put(to + at, logarithm
            ? make_float4(v.x - shift, v.y - shift, v.z - shift, v.w - shift)
            : make_float4(power(v.x - top) * scale, power(v.y - top) * scale,
                          power(v.z - top) * scale, power(v.w - top) * scale));
    }
}

void launch(const float *x, float *out, int rows, int columns, bool logarithm)
{
    softmax_rows<<<rows, THREADS>>>(reinterpret_cast<const float4 *>(x),
                                    reinterpret_cast<float4 *>(out), columns / 4, logarithm);
}

// kbs:adapter
extern "C" void solve(const float *x, float *out, int M, int N)
{
    launch(x, out, M, N, false);
}
// kbs:end
