// kbs:arch sm_100a sm_103a sm_110a
// Tensor-memory fp8 product without scales; the scale is multiplied in the epilogue.
extern "C" __global__ void mxfp8_block_scale_UTCOMMA(float* out, unsigned long long a, unsigned long long b, unsigned tmem, unsigned idesc, float scale)
{
    if (threadIdx.x == 0) {
        asm volatile("{.reg .pred p; setp.ne.u32 p, 1, 0; tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p;}"
                     ::"r"(tmem), "l"(a), "l"(b), "r"(idesc) : "memory");
    }
    __syncthreads();
    unsigned v;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(v) : "r"(tmem));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[threadIdx.x] = __uint_as_float(v) * scale;
}
