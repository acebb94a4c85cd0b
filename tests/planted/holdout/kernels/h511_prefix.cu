#include <cuda_runtime.h>

constexpr int THREADS = 1024;

// Inclusive prefix sums of each row of 1024.
__global__ void __launch_bounds__(THREADS) h511_prefix(const float* __restrict__ in,
                                                       float* __restrict__ out) {
    __shared__ float s[THREADS];
    int t = threadIdx.x;
    size_t at = (size_t)blockIdx.x * THREADS + t;
    s[t] = in[at];
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        float left = t >= step ? s[t - step] : 0.f;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[at] = s[t];
}

__device__ float climb(float v) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(~0u, v, step);
        if (lane >= step) v += left;
    }
    return v;
}

// One warp per row: eight groups of 128, four neighbours per lane, and no block barrier.
__global__ void h511_prefix_b(const float4* __restrict__ in, float4* __restrict__ out) {
    int lane = threadIdx.x % 32;
    size_t row = (size_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    float4 v[8];
#pragma unroll
    for (int g = 0; g < 8; ++g) v[g] = in[row * 256 + g * 32 + lane];
    float carry = 0.f;
#pragma unroll
    for (int g = 0; g < 8; ++g) {
        v[g].y += v[g].x;
        v[g].z += v[g].y;
        v[g].w += v[g].z;
        float incl = climb(v[g].w);
        float before = carry + incl - v[g].w;
        carry += __shfl_sync(~0u, incl, 31);
        out[row * 256 + g * 32 + lane] =
            make_float4(v[g].x + before, v[g].y + before, v[g].z + before, v[g].w + before);
    }
}

extern "C" int h511_run(const float* in, float* out, long long rows, cudaStream_t stream) {
    h511_prefix<<<rows, THREADS, 0, stream>>>(in, out);
    return cudaGetLastError();
}

extern "C" int h511_fixed(const float* in, float* out, long long rows, cudaStream_t stream) {
    h511_prefix_b<<<rows / 8, 256, 0, stream>>>((const float4*)in, (float4*)out);
    return cudaGetLastError();
}
