// Sum of a warp by five exchanges between lanes.
extern "C" __global__ void warp_sum(float* out, const float* in)
{
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) {
        v += __shfl_xor_sync(0xffffffffu, v, step);
    }
    if (threadIdx.x % 32 == 0) {
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
    }
}
