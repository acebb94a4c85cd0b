#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ void put(__half* out, size_t at, const float (&v)[4]) {
    half2 low = __floats2half2_rn(v[0], v[1]), high = __floats2half2_rn(v[2], v[3]);
    *(uint2*)(out + at) = make_uint2(*(unsigned*)&low, *(unsigned*)&high);
}

// out = q * scale[row][column / group]; four elements per thread.
__global__ void h513_dequant(const char4* __restrict__ q, const float* __restrict__ scale,
                             __half* __restrict__ out, long long columns, long long group) {
    long long at = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    char4 raw = q[at / 4];
    float v[4] = {(float)raw.x, (float)raw.y, (float)raw.z, (float)raw.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        long long row = (at + i) / columns, column = (at + i) % columns;
        v[i] *= scale[row * (columns / group) + column / group];
    }
    put(out, at, v);
}

// The row is a grid coordinate and the group a power of two: no division is left.
__global__ void h513_dequant_b(const char4* __restrict__ q, const float* __restrict__ scale,
                               __half* __restrict__ out, int columns, int shift) {
    int row = blockIdx.y, column = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    size_t at = (size_t)row * columns + column;
    char4 raw = q[at / 4];
    float s = scale[row * (columns >> shift) + (column >> shift)];
    float v[4] = {raw.x * s, raw.y * s, raw.z * s, raw.w * s};
    put(out, at, v);
}

extern "C" int h513_run(const char4* q, const float* scale, __half* out, long long rows,
                        long long columns, long long group, cudaStream_t stream) {
    h513_dequant<<<rows * columns / 1024, 256, 0, stream>>>(q, scale, out, columns, group);
    return cudaGetLastError();
}

extern "C" int h513_fixed(const char4* q, const float* scale, __half* out, long long rows,
                          long long columns, long long group, cudaStream_t stream) {
    int shift = __builtin_ctzll(group);
    h513_dequant_b<<<dim3(columns / 1024, rows), 256, 0, stream>>>(q, scale, out, columns, shift);
    return cudaGetLastError();
}
