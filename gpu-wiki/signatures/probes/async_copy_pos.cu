// cp.async through the pipeline primitives: global to shared without registers.
#include <cuda_pipeline.h>
extern "C" __global__ void stage(float4* out, const float4* in)
{
    __shared__ float4 tile[128];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[blockIdx.x * 128 + threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
