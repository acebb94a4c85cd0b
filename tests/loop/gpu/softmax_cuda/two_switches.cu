// Softmax over rows with two switches and four block sizes: what an iteration is timed with.
#include <cuda_runtime.h>
#include <math.h>

#define COALESCED 1 // kbs:method coalesced_access
#define SHUFFLE 1   // kbs:method warp_shuffle_reduction
#define SMALL_BLOCKS 1 // kbs:method smaller_block_tile
constexpr int THREADS = 256; // kbs:tunable 128, 256, 512, 1024
constexpr int ROWS = SMALL_BLOCKS ? 1 : 16; // rows of one block, one after the other

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

__device__ void one_row(const float* in, float* to, int N) {
    float top = -INFINITY;
    for (int i = threadIdx.x; i < N; i += THREADS) top = fmaxf(top, in[i]);
    top = reduce(top, -INFINITY, larger);
    float total = 0.0f;
    for (int i = threadIdx.x; i < N; i += THREADS) total += expf(in[i] - top);
    total = reduce(total, 0.0f, sum);
    for (int i = threadIdx.x; i < N; i += THREADS) to[i] = expf(in[i] - top) / total;
}

__global__ void by_block(const float* x, float* out, int M, int N) {
    for (int row = blockIdx.x * ROWS; row < min(M, (blockIdx.x + 1) * ROWS); ++row)
        one_row(x + (size_t)row * N, out + (size_t)row * N, N);
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
    by_block<<<(M + ROWS - 1) / ROWS, THREADS>>>(x, out, M, N);
#else
    by_thread<<<(M + 127) / 128, 128>>>(x, out, M, N);
#endif
}
