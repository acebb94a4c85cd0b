// FP32 inputs rounded to TF32 for the matrix unit.
extern "C" __global__ void tf32(float4* out, const float4* a, const float2* b)
{
    const float4 x = a[threadIdx.x];
    const float2 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(__float_as_uint(x.x)), "r"(__float_as_uint(x.y)), "r"(__float_as_uint(x.z)),
                   "r"(__float_as_uint(x.w)), "r"(__float_as_uint(y.x)), "r"(__float_as_uint(y.y)));
    out[threadIdx.x] = c;
}
