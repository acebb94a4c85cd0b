// Softmax over rows, second step: the row stays in registers, four floats a load, two at a time.
#include <cuda_runtime.h>
#include <math.h>

#define VECTOR 1    // kbs:method vectorized_access
#define REGISTERS 1 // kbs:method row_in_registers
#define STREAM 1    // kbs:method streaming_stores
constexpr int THREADS = 256; // kbs:tunable 128, 256, 512
constexpr int MOST = 4096;   // elements of a row that fit; longer rows take the plain path
constexpr int HELD = MOST / 4 / THREADS;

__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float sum(float a, float b) { return a + b; }

template <typename F> __device__ float reduce(float value, float rest, F combine) {
    __shared__ float partial[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int step = 16; step > 0; step >>= 1)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = lane < THREADS / 32 ? partial[lane] : rest;
    for (int step = 16; step > 0; step >>= 1)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
    __syncthreads();
    return value;
}

__device__ float4 load4(const float* from) {
#if VECTOR
    return *reinterpret_cast<const float4*>(from);
#else
    return make_float4(from[0], from[1], from[2], from[3]);
#endif
}

__device__ void store4(float* to, float4 v) {
#if VECTOR && STREAM
    __stcs(reinterpret_cast<float4*>(to), v);
#elif VECTOR
    *reinterpret_cast<float4*>(to) = v;
#elif STREAM
    __stcs(to, v.x); __stcs(to + 1, v.y); __stcs(to + 2, v.z); __stcs(to + 3, v.w);
#else
    to[0] = v.x; to[1] = v.y; to[2] = v.z; to[3] = v.w;
#endif
}

__global__ void held_row(const float* x, float* out, int N) {
    const float* in = x + (size_t)blockIdx.x * N;
    float* to = out + (size_t)blockIdx.x * N;
    float4 v[HELD];
    float top = -INFINITY;
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        int i = (k * THREADS + threadIdx.x) * 4;
        v[k] = i < N ? load4(in + i) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        top = fmaxf(top, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    }
    top = reduce(top, -INFINITY, larger);
    float total = 0.0f;
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        v[k] = make_float4(expf(v[k].x - top), expf(v[k].y - top), expf(v[k].z - top),
                           expf(v[k].w - top));
        total += v[k].x + v[k].y + v[k].z + v[k].w;
    }
    float scale = 1.0f / reduce(total, 0.0f, sum);
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        int i = (k * THREADS + threadIdx.x) * 4;
        if (i < N)
            store4(to + i, make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale,
                                       v[k].w * scale));
    }
}

__global__ void three_passes(const float* x, float* out, int N) {
    const float* in = x + (size_t)blockIdx.x * N;
    float* to = out + (size_t)blockIdx.x * N;
    float top = -INFINITY;
    for (int i = threadIdx.x * 4; i + 3 < N; i += THREADS * 4) {
        float4 v = load4(in + i);
        top = fmaxf(top, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    for (int i = N / 4 * 4 + threadIdx.x; i < N; i += THREADS) top = fmaxf(top, in[i]);
    top = reduce(top, -INFINITY, larger);
    float total = 0.0f;
    for (int i = threadIdx.x * 4; i + 3 < N; i += THREADS * 4) {
        float4 v = load4(in + i);
        total += expf(v.x - top) + expf(v.y - top) + expf(v.z - top) + expf(v.w - top);
    }
    for (int i = N / 4 * 4 + threadIdx.x; i < N; i += THREADS) total += expf(in[i] - top);
    float scale = 1.0f / reduce(total, 0.0f, sum);
    for (int i = threadIdx.x * 4; i + 3 < N; i += THREADS * 4) {
        float4 v = load4(in + i);
        store4(to + i, make_float4(expf(v.x - top) * scale, expf(v.y - top) * scale,
                                   expf(v.z - top) * scale, expf(v.w - top) * scale));
    }
    for (int i = N / 4 * 4 + threadIdx.x; i < N; i += THREADS) to[i] = expf(in[i] - top) * scale;
}

extern "C" void solve(const float* x, float* out, int M, int N) {
    bool held = REGISTERS && N % 4 == 0 && N <= MOST;
    if (held)
        held_row<<<M, THREADS>>>(x, out, N);
    else
        three_passes<<<M, THREADS>>>(x, out, N);
}
