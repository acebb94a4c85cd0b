// Asynchronous copies that are waited for at once: nothing is in flight while the step is computed.
#include <cuda_pipeline.h>
extern "C" __global__ void software_pipelined_double_buffer(float* out, const float4* in, int steps)
{
    __shared__ float4 tile[2][128];
    const float4* source = in + blockIdx.x * 128 * steps + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        __pipeline_memcpy_async(&tile[k & 1][threadIdx.x], source + k * 128, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        const float4 v = tile[k & 1][threadIdx.x ^ 1];
        sum += v.x * v.y + v.z * v.w;
        __syncthreads();
    }
    out[blockIdx.x * 128 + threadIdx.x] = sum;
}
