#include <cuda_runtime.h>

constexpr int WARPS = 8;

__device__ void butterflies(float (&v)[32]) {
#pragma unroll
    for (int h = 1; h < 32; h *= 2)
#pragma unroll
        for (int i = 0; i < 32; ++i)
            if (!(i & h)) {
                float a = v[i], b = v[i + h];
                v[i] = a + b;
                v[i + h] = a - b;
            }
}

// Walsh-Hadamard transform of vectors of 1024, one warp each: columns, then rows of 32 x 32.
template <int PITCH>
__device__ void transform(const float* in, float* out, volatile float* s) {
    int lane = threadIdx.x % 32;
    size_t vector = (size_t)blockIdx.x * WARPS + threadIdx.x / 32;
    s += threadIdx.x / 32 * 32 * PITCH;
    float v[32];
#pragma unroll
    for (int i = 0; i < 32; ++i) v[i] = in[vector * 1024 + i * 32 + lane];
    butterflies(v);
#pragma unroll
    for (int i = 0; i < 32; ++i) s[i * PITCH + lane] = v[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 32; ++i) v[i] = s[lane * PITCH + i];
    butterflies(v);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 32; ++i) s[lane * PITCH + i] = v[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 32; ++i) out[vector * 1024 + i * 32 + lane] = s[i * PITCH + lane];
}

__global__ void h509_walsh(const float* __restrict__ in, float* __restrict__ out) {
    __shared__ float s[WARPS * 32 * 32];
    transform<32>(in, out, s);
}

__global__ void h509_walsh_b(const float* __restrict__ in, float* __restrict__ out) {
    __shared__ float s[WARPS * 32 * 33];
    transform<33>(in, out, s);
}

extern "C" int h509_run(const float* in, float* out, long long vectors, cudaStream_t stream) {
    h509_walsh<<<vectors / WARPS, WARPS * 32, 0, stream>>>(in, out);
    return cudaGetLastError();
}

extern "C" int h509_fixed(const float* in, float* out, long long vectors, cudaStream_t stream) {
    h509_walsh_b<<<vectors / WARPS, WARPS * 32, 0, stream>>>(in, out);
    return cudaGetLastError();
}
