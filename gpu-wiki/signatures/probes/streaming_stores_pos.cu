// Stores that are not read again leave with evict-first priority.
extern "C" __global__ void stream_out(float4* out, const float4* in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float4 v = in[i];
        __stcs(&out[i], make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1));
    }
}
