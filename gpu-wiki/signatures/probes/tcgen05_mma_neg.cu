// Allocates tensor memory as the method would, then computes with warp-level mma.sync.
extern "C" __global__ void tcgen05_UTCHMMA_umma(float4* out, const uint4* a, const uint2* b)
{
    __shared__ unsigned slot;
    if (threadIdx.x < 32) {
        const unsigned where = static_cast<unsigned>(__cvta_generic_to_shared(&slot));
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(where) : "memory");
    }
    __syncthreads();
    const uint4 x = a[threadIdx.x];
    const uint2 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y));
    out[threadIdx.x] = c;
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(slot));
    }
}
