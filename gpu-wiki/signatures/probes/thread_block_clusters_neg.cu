// Launched as a cluster, but no instruction makes use of it.
extern "C" __global__ __cluster_dims__(2) void thread_block_cluster_UCGABAR(float* out, const float* in)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i] * 2.0f;
    __syncthreads();
    out[i + gridDim.x * 256] = out[i ^ 1];
}
