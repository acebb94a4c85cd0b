// kbs:arch sm_100a sm_103a sm_110a
// Tensor-memory fp8 product with block scales; the scales are copied from shared to tensor memory first.
extern "C" __global__ void mxfp8(unsigned long long a, unsigned long long b, unsigned long long scales, unsigned tmem, unsigned idesc, unsigned sa, unsigned sb)
{
    if (threadIdx.x == 0) {
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(sa), "l"(scales) : "memory");
        asm volatile("{.reg .pred p; setp.ne.u32 p, 1, 0; "
                     "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p;}"
                     ::"r"(tmem), "l"(a), "l"(b), "r"(idesc), "r"(sa), "r"(sb) : "memory");
    }
}
