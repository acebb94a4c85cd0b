#include <cuda_runtime.h>

constexpr int THREADS = 1024;

template <class F>
__device__ float combine(float v, F op) {
    __shared__ float warps[THREADS / 32];
    __shared__ float answer;
    for (int d = 16; d; d /= 2) v = op(v, __shfl_xor_sync(~0u, v, d));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warps[threadIdx.x];
        for (int d = 16; d; d /= 2) v = op(v, __shfl_xor_sync(~0u, v, d));
        if (threadIdx.x == 0) answer = v;
    }
    __syncthreads();
    v = answer;
    __syncthreads();
    return v;
}

struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };

__device__ float widest(float4 v) {
    return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
}

// Mean, variance and largest magnitude of each long row.
__global__ void __launch_bounds__(THREADS) h505_stats(const float4* __restrict__ x, float* out,
                                                      int words) {
    const float4* row = x + (size_t)blockIdx.x * words;
    float n = 4.f * words, sum = 0.f, square = 0.f, most = 0.f;
#pragma unroll 4
    for (int i = threadIdx.x; i < words; i += THREADS) {
        float4 v = row[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    float mean = combine(sum, Add()) / n;
#pragma unroll 4
    for (int i = threadIdx.x; i < words; i += THREADS) {
        float4 v = row[i];
        float a = v.x - mean, b = v.y - mean, c = v.z - mean, d = v.w - mean;
        square += (a * a + b * b) + (c * c + d * d);
    }
    float variance = combine(square, Add()) / n;
#pragma unroll 4
    for (int i = threadIdx.x; i < words; i += THREADS) most = fmaxf(most, widest(row[i]));
    most = combine(most, Max());
    if (threadIdx.x == 0) {
        out[blockIdx.x * 3] = mean;
        out[blockIdx.x * 3 + 1] = variance;
        out[blockIdx.x * 3 + 2] = most;
    }
}

__global__ void __launch_bounds__(THREADS) h505_stats_b(const float4* __restrict__ x, float* out,
                                                        int words) {
    const float4* row = x + (size_t)blockIdx.x * words;
    float n = 4.f * words, sum = 0.f, square = 0.f, most = 0.f;
#pragma unroll 4
    for (int i = threadIdx.x; i < words; i += THREADS) {
        float4 v = row[i];
        sum += (v.x + v.y) + (v.z + v.w);
        square += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
        most = fmaxf(most, widest(v));
    }
    float mean = combine(sum, Add()) / n;
    float variance = combine(square, Add()) / n - mean * mean;
    most = combine(most, Max());
    if (threadIdx.x == 0) {
        out[blockIdx.x * 3] = mean;
        out[blockIdx.x * 3 + 1] = variance;
        out[blockIdx.x * 3 + 2] = most;
    }
}

extern "C" int h505_run(const float4* x, float* out, long long rows, long long words,
                        cudaStream_t stream) {
    h505_stats<<<rows, THREADS, 0, stream>>>(x, out, words);
    return cudaGetLastError();
}

extern "C" int h505_fixed(const float4* x, float* out, long long rows, long long words,
                          cudaStream_t stream) {
    h505_stats_b<<<rows, THREADS, 0, stream>>>(x, out, words);
    return cudaGetLastError();
}
