// Warp-level mma.sync, four warps side by side: the older instruction under the newer name.
extern "C" __global__ void __launch_bounds__(128) wgmma_HGMMA_warpgroup(float4* out, const uint4* a, const uint2* b)
{
    const uint4 x = a[threadIdx.x];
    const uint2 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y));
    out[threadIdx.x] = c;
}
