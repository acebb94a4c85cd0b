// One warp-group matrix instruction with its fences.
extern "C" __global__ void wgmma(float4* out, unsigned long long a, unsigned long long b)
{
    float4 c = {0, 0, 0, 0};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w) : "l"(a), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = c;
}
