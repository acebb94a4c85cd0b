// Softmax over rows that forgets to subtract the largest element and to divide.
#include <cuda_runtime.h>
#include <math.h>

__global__ void by_block(const float* x, float* out, int N) {
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        out[(size_t)blockIdx.x * N + i] = expf(x[(size_t)blockIdx.x * N + i]);
}

extern "C" void solve(const float* x, float* out, int M, int N) {
    by_block<<<M, 256>>>(x, out, N);
}
