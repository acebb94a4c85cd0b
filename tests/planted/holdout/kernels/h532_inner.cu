#include <cuda_runtime.h>

constexpr int THREADS = 256;

// The share of each block in an inner product; a block owns a contiguous piece.
__global__ void __launch_bounds__(THREADS) h532_inner(const float4* __restrict__ x,
                                                      const float4* __restrict__ y,
                                                      float* __restrict__ share, int words) {
    __shared__ float warps[THREADS / 32];
    x += (size_t)blockIdx.x * words;
    y += (size_t)blockIdx.x * words;
    float sum = 0.f;
#pragma unroll 4
    for (int i = threadIdx.x; i < words; i += THREADS) {
        float4 a = x[i], b = y[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; ++w) sum += warps[w];
        share[blockIdx.x] = sum;
    }
}

extern "C" int h532_run(const float4* x, const float4* y, float* share, long long blocks,
                        long long words, cudaStream_t stream) {
    h532_inner<<<blocks, THREADS, 0, stream>>>(x, y, share, words);
    return cudaGetLastError();
}
