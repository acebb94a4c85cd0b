// The producer warp group gives registers back, the consumer warp group takes them.
extern "C" __global__ void __launch_bounds__(256, 1) roles(float* out, const float* in)
{
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        out[threadIdx.x] = in[threadIdx.x];
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x + 256];
    }
}
