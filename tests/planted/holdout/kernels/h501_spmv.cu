#include <cuda_runtime.h>

__global__ void h501_spmv(const int* __restrict__ begin, const int* __restrict__ col,
                          const float* __restrict__ val, const float* __restrict__ x,
                          float* __restrict__ y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.f;
    for (int j = begin[row]; j < begin[row + 1]; ++j) sum += val[j] * x[col[j]];
    y[row] = sum;
}

__global__ void h501_spmv_b(const int* __restrict__ begin, const int* __restrict__ col,
                            const float* __restrict__ val, const float* __restrict__ x,
                            float* __restrict__ y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.f;
    for (int j = begin[row] + lane; j < begin[row + 1]; j += 32) sum += val[j] * x[col[j]];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) y[row] = sum;
}

extern "C" int h501_run(const int* begin, const int* col, const float* val, const float* x,
                        float* y, long long rows, cudaStream_t stream) {
    h501_spmv<<<(rows + 255) / 256, 256, 0, stream>>>(begin, col, val, x, y, rows);
    return cudaGetLastError();
}

extern "C" int h501_fixed(const int* begin, const int* col, const float* val, const float* x,
                          float* y, long long rows, cudaStream_t stream) {
    h501_spmv_b<<<(rows + 7) / 8, 256, 0, stream>>>(begin, col, val, x, y, rows);
    return cudaGetLastError();
}
