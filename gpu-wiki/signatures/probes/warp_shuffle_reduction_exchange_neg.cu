// A transpose of 2 x 2 tiles across lanes: a butterfly of exchanges that adds nothing up.
extern "C" __global__ void warp_reduce_transpose(float2* out, const float2* in)
{
    float2 v = in[threadIdx.x];
    for (int step = 1; step < 32; step *= 2) {
        const bool upper = threadIdx.x & step;
        const float other = __shfl_xor_sync(0xffffffffu, upper ? v.x : v.y, step);
        if (upper) {
            v.x = other;
        } else {
            v.y = other;
        }
    }
    out[threadIdx.x] = v;
}
