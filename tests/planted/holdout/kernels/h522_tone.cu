#include <cuda_runtime.h>

constexpr int STAGES = 32;

// A chain of tone curves on integer samples: each stage scales and rounds to an integer.
__device__ int through_integers(int v) {
#pragma unroll
    for (int s = 0; s < STAGES; ++s) v = __float2int_rn(fmaf((float)v, 0.8f + 0.01f * s, 20.f - s));
    return v;
}

// Rounds in place: adding and taking 1.5 * 2^23 leaves the nearest integer, as a float.
__device__ int through_floats(int start) {
    const float magic = 12582912.f;
    float v = start;
#pragma unroll
    for (int s = 0; s < STAGES; ++s)
        v = __fsub_rn(__fadd_rn(fmaf(v, 0.8f + 0.01f * s, 20.f - s), magic), magic);
    return (int)v;
}

__global__ void h522_tone(const int4* __restrict__ x, int4* __restrict__ y) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = x[i];
    y[i] = make_int4(through_integers(v.x), through_integers(v.y), through_integers(v.z),
                     through_integers(v.w));
}

__global__ void h522_tone_b(const int4* __restrict__ x, int4* __restrict__ y) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = x[i];
    y[i] = make_int4(through_floats(v.x), through_floats(v.y), through_floats(v.z),
                     through_floats(v.w));
}

extern "C" int h522_run(const int4* x, int4* y, long long n, cudaStream_t stream) {
    h522_tone<<<n / 1024, 256, 0, stream>>>(x, y);
    return cudaGetLastError();
}

extern "C" int h522_fixed(const int4* x, int4* y, long long n, cudaStream_t stream) {
    h522_tone_b<<<n / 1024, 256, 0, stream>>>(x, y);
    return cudaGetLastError();
}
