// Named after the method, but the copy is a load to a register and a store to shared memory.
extern "C" __global__ void cp_async_LDGSTS_stage(float4* out, const float4* in)
{
    __shared__ float4 tile[128];
    tile[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
