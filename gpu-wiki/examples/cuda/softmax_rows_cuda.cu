// Softmax over rows: a block per row, 16-byte loads, the row kept in registers, warp shuffles.
#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int THREADS = 256;        // kbs:tunable 128, 256, 512, 1024
#define FAST_EXP 1                  // kbs:method fast_math_intrinsics
#define STREAM_STORES 0             // kbs:method streaming_stores
constexpr int MOST_KEPT = THREADS < 1024 ? 16 : 4;  // float4 values a thread keeps without spilling

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

struct Larger {
    static __device__ float none() { return -CUDART_INF_F; }
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    static __device__ float none() { return 0.f; }
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename Join> __device__ float join_block(float mine, Join join)
{
    __shared__ float warps[32];
    for (int step = 16; step > 0; step /= 2)
        mine = join(mine, __shfl_xor_sync(~0u, mine, step));
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
        warps[warp] = mine;
    __syncthreads();
    mine = lane < THREADS / 32 ? warps[lane] : Join::none();
    for (int step = 16; step > 0; step /= 2)
        mine = join(mine, __shfl_xor_sync(~0u, mine, step));
    return mine;
}

__device__ inline float largest(float4 v)
{
    return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
}

__device__ inline float4 powers(float4 v, float top)
{
    return make_float4(power(v.x - top), power(v.y - top), power(v.z - top), power(v.w - top));
}

__device__ inline float total(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

// All loads of a row are under way before the first is used. KEPT fits the row, so that a short
// row costs few registers; what exceeds it is read again.
template <int KEPT, bool LOGARITHM>
__global__ void __launch_bounds__(THREADS) softmax_rows(const float4 *__restrict__ x,
                                                        float4 *__restrict__ out, int quads)
{
    const float4 *row = x + size_t(blockIdx.x) * quads;
    float4 *to = out + size_t(blockIdx.x) * quads;
    float4 kept[KEPT];
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        const int at = i * THREADS + threadIdx.x;
        kept[i] = at < quads ? __ldg(row + at)
                             : make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
    }
    float top = -CUDART_INF_F;
#pragma unroll
    for (int i = 0; i < KEPT; ++i)
        top = fmaxf(top, largest(kept[i]));
    for (int at = KEPT * THREADS + threadIdx.x; at < quads; at += THREADS)
        top = fmaxf(top, largest(__ldg(row + at)));
    top = join_block(top, Larger());
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        if (i * THREADS + threadIdx.x < quads) {
            const float4 raised = powers(kept[i], top);
            sum += total(raised);
            if (!LOGARITHM)
                kept[i] = raised;
        }
    }
    for (int at = KEPT * THREADS + threadIdx.x; at < quads; at += THREADS)
        sum += total(powers(__ldg(row + at), top));
    sum = join_block(sum, Sum());
    const float scale = 1.f / sum, shift = top + logf(sum);
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        const int at = i * THREADS + threadIdx.x;
        const float4 v = kept[i];
        if (at < quads)
            put(to + at, LOGARITHM
                ? make_float4(v.x - shift, v.y - shift, v.z - shift, v.w - shift)
                : make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale));
    }
    for (int at = KEPT * THREADS + threadIdx.x; at < quads; at += THREADS) {
        const float4 v = __ldg(row + at);
        const float4 raised = powers(v, top);
        put(to + at, LOGARITHM
            ? make_float4(v.x - shift, v.y - shift, v.z - shift, v.w - shift)
            : make_float4(raised.x * scale, raised.y * scale, raised.z * scale, raised.w * scale));
    }
}

template <int KEPT, bool LOGARITHM>
void launch_kept(const float4 *x, float4 *out, int rows, int quads)
{
    if constexpr (KEPT < MOST_KEPT) {
        if (quads > KEPT * THREADS)
            return launch_kept<4 * KEPT, LOGARITHM>(x, out, rows, quads);
    }
    softmax_rows<KEPT, LOGARITHM><<<rows, THREADS>>>(x, out, quads);
}

void launch(const float *x, float *out, int rows, int columns, bool logarithm)
{
    const float4 *from = reinterpret_cast<const float4 *>(x);
    float4 *to = reinterpret_cast<float4 *>(out);
    if (logarithm)
        launch_kept<1, true>(from, to, rows, columns / 4);
    else
        launch_kept<1, false>(from, to, rows, columns / 4);
}

// kbs:adapter
extern "C" void solve(const float *x, float *out, int M, int N)
{
    launch(x, out, M, N, false);
}
// kbs:end
