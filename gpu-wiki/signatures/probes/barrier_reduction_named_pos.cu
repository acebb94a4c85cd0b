// Two groups of four warps meet at named barriers: the second barrier of the step is not block-wide.
extern "C" __global__ void __launch_bounds__(256) named_barriers(float* out, const float* in, int steps)
{
    __shared__ float line[256];
    float v = in[threadIdx.x];
    const int half = threadIdx.x & 128;
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        line[threadIdx.x] = v;
        if (half) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 2, 128;" ::: "memory");
        }
        v = 0.5f * v + line[half | ((threadIdx.x + 1) & 127)];
        if (half) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 2, 128;" ::: "memory");
        }
    }
    out[threadIdx.x] = v;
}
