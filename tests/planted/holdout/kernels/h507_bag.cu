#include <cuda_runtime.h>

constexpr int D = 128, ROWS = 16;

// Adds each token's gradient to the row of its id.
__global__ void h507_bag(const int* __restrict__ id, const float* __restrict__ grad, float* table) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(table + id[i / D] * D + i % D, grad[i]);
}

__global__ void h507_bag_b(const int* __restrict__ id, const float* __restrict__ grad, float* table,
                           int tokens) {
    __shared__ float mine[ROWS][D];
    int d = threadIdx.x, chunk = tokens / gridDim.x, first = blockIdx.x * chunk;
    for (int r = 0; r < ROWS; ++r) mine[r][d] = 0.f;  // thread d alone owns column d
#pragma unroll 8
    for (int t = first; t < first + chunk; ++t) mine[id[t]][d] += grad[(size_t)t * D + d];
    for (int r = 0; r < ROWS; ++r) atomicAdd(table + r * D + d, mine[r][d]);
}

extern "C" int h507_run(const int* id, const float* grad, float* table, long long tokens,
                        cudaStream_t stream) {
    cudaMemsetAsync(table, 0, ROWS * D * sizeof(float), stream);
    h507_bag<<<tokens * D / 256, 256, 0, stream>>>(id, grad, table);
    return cudaGetLastError();
}

extern "C" int h507_fixed(const int* id, const float* grad, float* table, long long tokens,
                          cudaStream_t stream) {
    cudaMemsetAsync(table, 0, ROWS * D * sizeof(float), stream);
    h507_bag_b<<<1024, D, 0, stream>>>(id, grad, table, tokens);
    return cudaGetLastError();
}
