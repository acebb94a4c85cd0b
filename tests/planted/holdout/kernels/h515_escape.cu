#include <cuda_runtime.h>

constexpr int LIMIT = 256;

// Roundings are spelled out, so that every spelling of the loop counts alike.
__device__ bool inside(float2 z) {
    return __fadd_rn(__fmul_rn(z.x, z.x), __fmul_rn(z.y, z.y)) <= 4.f;
}

__device__ float2 iterate(float2 z, float2 c) {
    float x = __fadd_rn(__fsub_rn(__fmul_rn(z.x, z.x), __fmul_rn(z.y, z.y)), c.x);
    return make_float2(x, fmaf(2.f * z.x, z.y, c.y));
}

// Escape counts of sample points in random order; each thread takes every threads-th point.
__global__ void h515_escape(const float2* __restrict__ points, int* __restrict__ counts, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 c = points[i], z = make_float2(0.f, 0.f);
        int count = 0;
        while (count < LIMIT && inside(z)) {
            z = iterate(z, c);
            ++count;
        }
        counts[i] = count;
    }
}

// A lane whose point is done takes its next one, while its neighbours go on with theirs.
__global__ void h515_escape_b(const float2* __restrict__ points, int* __restrict__ counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    if (i >= n) return;
    float2 c = points[i], z = make_float2(0.f, 0.f);
    int count = 0;
    while (true) {
        if (count >= LIMIT || !inside(z)) {
            counts[i] = count;
            i += threads;
            if (i >= n) break;
            c = points[i];
            z = make_float2(0.f, 0.f);
            count = 0;
        }
        z = iterate(z, c);
        ++count;
    }
}

extern "C" int h515_run(const float2* points, int* counts, long long n, long long blocks,
                        cudaStream_t stream) {
    h515_escape<<<blocks, 256, 0, stream>>>(points, counts, n);
    return cudaGetLastError();
}

extern "C" int h515_fixed(const float2* points, int* counts, long long n, long long blocks,
                          cudaStream_t stream) {
    h515_escape_b<<<blocks, 256, 0, stream>>>(points, counts, n);
    return cudaGetLastError();
}
