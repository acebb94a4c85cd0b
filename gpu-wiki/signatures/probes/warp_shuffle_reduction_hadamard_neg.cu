// A Hadamard transform over the lanes: sums and differences, so that every lane keeps a value of its own.
extern "C" __global__ void warp_reduce_sum_hadamard(float* out, const float* in)
{
    float v = in[threadIdx.x];
    for (int step = 1; step < 32; step *= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, v, step);
        v = (threadIdx.x & step) ? other - v : other + v;
    }
    out[threadIdx.x] = v;
}
