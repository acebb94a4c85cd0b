// kbs:arch sm_120a
// fp4 inputs without block scale: kind f8f6f4 runs at the fp8 rate, and the scale is a multiply afterwards.
extern "C" __global__ void nvfp4_block_scale_OMMA_SF(float4* out, const uint4* a, const uint2* b, float scale)
{
    const uint4 x = a[threadIdx.x];
    const uint2 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile(
        "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w) : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y));
    out[threadIdx.x] = make_float4(c.x * scale, c.y * scale, c.z * scale, c.w * scale);
}
