// kbs:arch sm_120a
// Warp-level fp4 product with one e8m0 scale per 32 values.
extern "C" __global__ void mxfp4(float4* out, const uint4* a, const uint2* b, unsigned sa, unsigned sb)
{
    const uint4 x = a[threadIdx.x];
    const uint2 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile(
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 0};"
        : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
        : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(sa), "r"(sb));
    out[threadIdx.x] = c;
}
