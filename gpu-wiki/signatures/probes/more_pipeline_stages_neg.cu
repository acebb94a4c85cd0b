// Four buffers are allocated, but every step waits for all copies: one stage in flight.
#include <cuda_pipeline.h>
extern "C" __global__ void num_stages_4(float* out, const float4* in, int steps)
{
    __shared__ float4 tile[4][128];
    const float4* source = in + blockIdx.x * 128 * steps + threadIdx.x;
    __pipeline_memcpy_async(&tile[0][threadIdx.x], source, 16);
    __pipeline_commit();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        __pipeline_wait_prior(0);
        __syncthreads();
        if (k + 1 < steps) {
            __pipeline_memcpy_async(&tile[(k + 1) & 3][threadIdx.x], source + (k + 1) * 128, 16);
        }
        __pipeline_commit();
        const float4 v = tile[k & 3][threadIdx.x ^ 1];
        sum += v.x * v.y + v.z * v.w;
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
