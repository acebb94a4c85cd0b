#include <cuda_runtime.h>

constexpr int PARTS = 16, LENGTH = 2048;

// Part P of a generated program: 2048 steps of one affine map, in UNROLL copies.
template <int P, int UNROLL>
__device__ __noinline__ float2 part(float2 v) {
    const float a = 0.9f + 0.005f * P, b = 0.1f + 0.01f * P;
#pragma unroll UNROLL
    for (int i = 0; i < LENGTH; ++i) {
        v.x = fmaf(v.x, a, b);
        v.y = fmaf(v.y, b, a);
    }
    return v;
}

template <int UNROLL>
__device__ float2 step(int p, float2 v) {
    switch (p) {
        case 0: return part<0, UNROLL>(v);
        case 1: return part<1, UNROLL>(v);
        case 2: return part<2, UNROLL>(v);
        case 3: return part<3, UNROLL>(v);
        case 4: return part<4, UNROLL>(v);
        case 5: return part<5, UNROLL>(v);
        case 6: return part<6, UNROLL>(v);
        case 7: return part<7, UNROLL>(v);
        case 8: return part<8, UNROLL>(v);
        case 9: return part<9, UNROLL>(v);
        case 10: return part<10, UNROLL>(v);
        case 11: return part<11, UNROLL>(v);
        case 12: return part<12, UNROLL>(v);
        case 13: return part<13, UNROLL>(v);
        case 14: return part<14, UNROLL>(v);
        default: return part<15, UNROLL>(v);
    }
}

// Every warp runs all parts, each from another start, so that warps stand at unlike places.
template <int UNROLL>
__device__ void walk(const float2* in, float2* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = i / 32 * 5;
    float2 v = in[i];
#pragma unroll 1
    for (int p = 0; p < PARTS; ++p) v = step<UNROLL>((first + p) % PARTS, v);
    out[i] = v;
}

__global__ void h523_program(const float2* __restrict__ in, float2* __restrict__ out) {
    walk<LENGTH>(in, out);
}

__global__ void h523_program_b(const float2* __restrict__ in, float2* __restrict__ out) {
    walk<16>(in, out);
}

extern "C" int h523_run(const float2* in, float2* out, long long threads, cudaStream_t stream) {
    h523_program<<<threads / 256, 256, 0, stream>>>(in, out);
    return cudaGetLastError();
}

extern "C" int h523_fixed(const float2* in, float2* out, long long threads, cudaStream_t stream) {
    h523_program_b<<<threads / 256, 256, 0, stream>>>(in, out);
    return cudaGetLastError();
}
