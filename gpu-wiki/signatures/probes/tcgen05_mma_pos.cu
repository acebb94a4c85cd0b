// One tcgen05.mma into tensor memory, committed to an mbarrier and read back.
extern "C" __global__ void tcgen05(uint4* out, unsigned long long a, unsigned long long b, unsigned tmem, unsigned idesc, unsigned bar)
{
    if (threadIdx.x == 0) {
        asm volatile("{.reg .pred p; setp.ne.u32 p, 1, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}"
                     ::"r"(tmem), "l"(a), "l"(b), "r"(idesc) : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(bar) : "memory");
    }
    __syncthreads();
    uint4 v;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(tmem));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[threadIdx.x] = v;
}
