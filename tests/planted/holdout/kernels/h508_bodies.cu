#include <cuda_runtime.h>

constexpr int TILE = 128;

// Pull of one slice (blockIdx.y) of all bodies on each body; w is the mass.
template <class Pull>
__device__ void gather(const float4* body, float* out, int n, Pull pull) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x, slice = n / gridDim.y, first = blockIdx.y * slice;
    float4 me = body[i];
    float3 sum = make_float3(0.f, 0.f, 0.f);
    for (int base = first; base < first + slice; base += TILE) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < TILE; ++j) pull(me, tile[j], sum);
        __syncthreads();
    }
    float* mine = out + ((size_t)blockIdx.y * n + i) * 3;
    mine[0] = sum.x, mine[1] = sum.y, mine[2] = sum.z;
}

__global__ void h508_bodies(const float4* __restrict__ body, float* __restrict__ out, int n) {
    gather(body, out, n, [](float4 me, float4 it, float3& sum) {
        float dx = it.x - me.x, dy = it.y - me.y, dz = it.z - me.z;
        float inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
        float pull = 0.0667 * it.w * inverse * inverse * inverse;
        sum.x += pull * dx;
        sum.y += pull * dy;
        sum.z += pull * dz;
    });
}

__global__ void h508_bodies_b(const float4* __restrict__ body, float* __restrict__ out, int n) {
    gather(body, out, n, [](float4 me, float4 it, float3& sum) {
        float dx = it.x - me.x, dy = it.y - me.y, dz = it.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float pull = 0.0667f * it.w * inverse * inverse * inverse;
        sum.x += pull * dx;
        sum.y += pull * dy;
        sum.z += pull * dz;
    });
}

extern "C" int h508_run(const float4* body, float* out, long long n, long long slices,
                        cudaStream_t stream) {
    h508_bodies<<<dim3(n / TILE, slices), TILE, 0, stream>>>(body, out, n);
    return cudaGetLastError();
}

extern "C" int h508_fixed(const float4* body, float* out, long long n, long long slices,
                          cudaStream_t stream) {
    h508_bodies_b<<<dim3(n / TILE, slices), TILE, 0, stream>>>(body, out, n);
    return cudaGetLastError();
}
