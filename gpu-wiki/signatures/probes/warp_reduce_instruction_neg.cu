// Shuffles and a reduction atomic (RED): the text "RED" is there, the instruction REDUX is not.
extern "C" __global__ void warp_reduce_REDUX(float* out, const int* in)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 16; step > 0; step /= 2) {
        v += __shfl_xor_sync(0xffffffffu, v, step);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&out[blockIdx.x], static_cast<float>(v));
    }
}
