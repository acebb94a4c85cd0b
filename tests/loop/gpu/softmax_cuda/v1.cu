// Softmax over rows, first step: one block per row, lanes side by side, partial sums by shuffles.
#include <cuda_runtime.h>
#include <math.h>

#define COALESCED 1 // kbs:method coalesced_access
#define SHUFFLE 1   // kbs:method warp_shuffle_reduction
constexpr int THREADS = 256; // kbs:tunable 128, 256, 512

__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float sum(float a, float b) { return a + b; }

template <typename F> __device__ float reduce(float value, float rest, F combine) {
    __shared__ float partial[THREADS];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#if SHUFFLE
    for (int step = 16; step > 0; step >>= 1)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = lane < THREADS / 32 ? partial[lane] : rest;
    for (int step = 16; step > 0; step >>= 1)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
#else
    (void)lane; (void)warp; (void)rest;
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step >>= 1) {
        if (threadIdx.x < step)
            partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + step]);
        __syncthreads();
    }
    value = partial[0];
#endif
    __syncthreads();
    return value;
}

__global__ void by_block(const float* x, float* out, int N) {
    const float* in = x + (size_t)blockIdx.x * N;
    float* to = out + (size_t)blockIdx.x * N;
    float top = -INFINITY;
    for (int i = threadIdx.x; i < N; i += THREADS) top = fmaxf(top, in[i]);
    top = reduce(top, -INFINITY, larger);
    float total = 0.0f;
    for (int i = threadIdx.x; i < N; i += THREADS) total += expf(in[i] - top);
    total = reduce(total, 0.0f, sum);
    for (int i = threadIdx.x; i < N; i += THREADS) to[i] = expf(in[i] - top) / total;
}

__global__ void by_thread(const float* x, float* out, int M, int N) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    const float* in = x + (size_t)row * N;
    float* to = out + (size_t)row * N;
    float top = -INFINITY;
    for (int i = 0; i < N; ++i) top = fmaxf(top, in[i]);
    float total = 0.0f;
    for (int i = 0; i < N; ++i) total += expf(in[i] - top);
    for (int i = 0; i < N; ++i) to[i] = expf(in[i] - top) / total;
}

extern "C" void solve(const float* x, float* out, int M, int N) {
#if COALESCED
    by_block<<<M, THREADS>>>(x, out, N);
#else
    by_thread<<<(M + 127) / 128, 128>>>(x, out, M, N);
#endif
}
