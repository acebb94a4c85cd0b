// Four stages: the loop waits until at most two groups of copies are left in flight.
#include <cuda_pipeline.h>
extern "C" __global__ void four_stages(float* out, const float4* in, int steps)
{
    __shared__ float4 tile[4][128];
    const float4* source = in + blockIdx.x * 128 * steps + threadIdx.x;
    for (int s = 0; s < 3; ++s) {
        __pipeline_memcpy_async(&tile[s][threadIdx.x], source + s * 128, 16);
        __pipeline_commit();
    }
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        __pipeline_wait_prior(2);
        __syncthreads();
        if (k + 3 < steps) {
            __pipeline_memcpy_async(&tile[(k + 3) & 3][threadIdx.x], source + (k + 3) * 128, 16);
        }
        __pipeline_commit();
        const float4 v = tile[k & 3][threadIdx.x ^ 1];
        sum += v.x * v.y + v.z * v.w;
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
