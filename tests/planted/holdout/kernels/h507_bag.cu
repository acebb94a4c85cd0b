#include <cuda_runtime.h>

constexpr int D = 16, ROWS = 4, THREADS = 128, TEAMS = THREADS / D;

// Adds each token's gradient to the row of its id.
__global__ void h507_bag(const int* __restrict__ id, const float* __restrict__ grad, float* table) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(table + id[i / D] * D + i % D, grad[i]);
}

// Each team of 16 threads keeps its own table; the block adds one sum per address.
__global__ void h507_bag_b(const int* __restrict__ id, const float* __restrict__ grad, float* table,
                           int tokens) {
    __shared__ float mine[ROWS][THREADS];
    for (int r = 0; r < ROWS; ++r) mine[r][threadIdx.x] = 0.f;  // a thread owns its column
    int chunk = tokens / gridDim.x, first = blockIdx.x * chunk;
#pragma unroll 8
    for (int t = threadIdx.x / D; t < chunk; t += TEAMS)
        mine[id[first + t]][threadIdx.x] += grad[(size_t)(first + t) * D + threadIdx.x % D];
    __syncthreads();
    if (threadIdx.x >= ROWS * D) return;
    float sum = 0.f;
    for (int team = 0; team < TEAMS; ++team)
        sum += mine[threadIdx.x / D][team * D + threadIdx.x % D];
    atomicAdd(table + threadIdx.x, sum);
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
    h507_bag_b<<<2048, THREADS, 0, stream>>>(id, grad, table, tokens);
    return cudaGetLastError();
}
