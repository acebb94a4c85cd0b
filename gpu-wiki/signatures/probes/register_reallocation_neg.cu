// The same statements without launch bounds: ptxas cannot know the register count at entry and drops them.
extern "C" __global__ void setmaxnreg_USETMAXREG(float* out, const float* in)
{
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        out[threadIdx.x] = in[threadIdx.x];
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x + 256];
    }
}
