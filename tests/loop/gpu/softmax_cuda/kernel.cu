// Softmax over rows, naive: one thread per row, three passes over global memory.
#include <cuda_runtime.h>
#include <math.h>

__global__ void softmax_rows(const float* x, float* out, int M, int N) {
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
    int threads = 128;
    softmax_rows<<<(M + threads - 1) / threads, threads>>>(x, out, M, N);
}
