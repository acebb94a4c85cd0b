// Two stages: the loads of step k + 1 are on their way while step k is computed.
#include <cuda_pipeline.h>
extern "C" __global__ void pipelined(float* out, const float4* in, int steps)
{
    __shared__ float4 tile[2][128];
    const float4* source = in + blockIdx.x * 128 * steps + threadIdx.x;
    __pipeline_memcpy_async(&tile[0][threadIdx.x], source, 16);
    __pipeline_commit();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        if (k + 1 < steps) {
            __pipeline_memcpy_async(&tile[(k + 1) & 1][threadIdx.x], source + (k + 1) * 128, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        const float4 v = tile[k & 1][threadIdx.x ^ 1];
        sum += v.x * v.y + v.z * v.w;
        __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
