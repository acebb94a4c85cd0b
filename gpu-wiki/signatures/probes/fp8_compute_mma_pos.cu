// kbs:arch sm_89 sm_120a
// Warp-level fp8 product: native on sm_89 and sm_120a only.
extern "C" __global__ void fp8(float4* out, const uint4* a, const uint2* b)
{
    const uint4 x = a[threadIdx.x];
    const uint2 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y));
    out[threadIdx.x] = c;
}
