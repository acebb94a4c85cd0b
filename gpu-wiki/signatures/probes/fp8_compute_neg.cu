// kbs:arch sm_89 sm_90a sm_100a sm_103a sm_110a sm_120a
// fp8 storage, fp16 arithmetic: values are widened and multiplied by the fp16 matrix instruction.
#include <cuda_fp8.h>
__device__ unsigned widen(unsigned short two)
{
    const __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(two, __NV_E4M3);
    return static_cast<unsigned>(h.x) | static_cast<unsigned>(h.y) << 16;
}
extern "C" __global__ void fp8_QMMA_e4m3(float4* out, const ushort4* a, const ushort2* b)
{
    const ushort4 x = a[threadIdx.x];
    const ushort2 y = b[threadIdx.x];
    float4 c = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(widen(x.x)), "r"(widen(x.y)), "r"(widen(x.z)), "r"(widen(x.w)), "r"(widen(y.x)), "r"(widen(y.y)));
    out[threadIdx.x] = c;
}
