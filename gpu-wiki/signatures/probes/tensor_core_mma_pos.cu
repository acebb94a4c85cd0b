// One warp-level matrix instruction that every architecture from Turing on has.
extern "C" __global__ void mma(float4* out, const uint2* a, const unsigned* b)
{
    const uint2 x = a[threadIdx.x];
    const unsigned y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w) : "r"(x.x), "r"(x.y), "r"(y));
    out[threadIdx.x] = c;
}
