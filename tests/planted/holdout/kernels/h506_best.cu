#include <cuda_runtime.h>

constexpr int LIMIT = 16;

// The k largest of each column, in falling order.
__global__ void h506_best(const float* __restrict__ x, float* __restrict__ out, int rows,
                          int columns, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float best[LIMIT];
    for (int j = 0; j < k; ++j) best[j] = -1e30f;
    for (int i = 0; i < rows; ++i) {
        float v = x[(size_t)i * columns + column];
        for (int j = 0; j < k; ++j) {
            float held = best[j];
            best[j] = fmaxf(held, v);
            v = fminf(held, v);
        }
    }
    for (int j = 0; j < k; ++j) out[(size_t)j * columns + column] = best[j];
}

template <int K>
__global__ void h506_best_b(const float* __restrict__ x, float* __restrict__ out, int rows,
                            int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float best[K];
#pragma unroll
    for (int j = 0; j < K; ++j) best[j] = -1e30f;
#pragma unroll 4
    for (int i = 0; i < rows; ++i) {
        float v = x[(size_t)i * columns + column];
#pragma unroll
        for (int j = 0; j < K; ++j) {
            float held = best[j];
            best[j] = fmaxf(held, v);
            v = fminf(held, v);
        }
    }
#pragma unroll
    for (int j = 0; j < K; ++j) out[(size_t)j * columns + column] = best[j];
}

extern "C" int h506_run(const float* x, float* out, long long rows, long long columns, long long k,
                        cudaStream_t stream) {
    if (k > LIMIT) return cudaErrorInvalidValue;
    h506_best<<<columns / 256, 256, 0, stream>>>(x, out, rows, columns, k);
    return cudaGetLastError();
}

extern "C" int h506_fixed(const float* x, float* out, long long rows, long long columns,
                          long long k, cudaStream_t stream) {
    if (k != 16) return cudaErrorInvalidValue;
    h506_best_b<16><<<columns / 256, 256, 0, stream>>>(x, out, rows, columns);
    return cudaGetLastError();
}
