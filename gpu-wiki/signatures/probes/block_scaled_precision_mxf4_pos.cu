// kbs:arch sm_100a sm_103a sm_110a
// Tensor-memory fp4 product with block scales that lie in tensor memory.
extern "C" __global__ void mxfp4(unsigned long long a, unsigned long long b, unsigned tmem, unsigned idesc, unsigned sa, unsigned sb)
{
    if (threadIdx.x == 0) {
        asm volatile("{.reg .pred p; setp.ne.u32 p, 1, 0; "
                     "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%4], [%5], p;}"
                     ::"r"(tmem), "l"(a), "l"(b), "r"(idesc), "r"(sa), "r"(sb) : "memory");
    }
}
