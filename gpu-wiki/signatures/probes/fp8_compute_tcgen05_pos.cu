// kbs:arch sm_100a sm_103a sm_110a
// Tensor-memory product of kind f8f6f4.
extern "C" __global__ void fp8(unsigned long long a, unsigned long long b, unsigned tmem, unsigned idesc, unsigned bar)
{
    if (threadIdx.x == 0) {
        asm volatile("{.reg .pred p; setp.ne.u32 p, 1, 0; tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p;}"
                     ::"r"(tmem), "l"(a), "l"(b), "r"(idesc) : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory");
    }
}
