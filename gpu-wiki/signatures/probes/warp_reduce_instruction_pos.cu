// Integer sum of a warp in one instruction.
extern "C" __global__ void warp_sum(int* out, const int* in)
{
    const int v = __reduce_add_sync(0xffffffffu, in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0) {
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
    }
}
