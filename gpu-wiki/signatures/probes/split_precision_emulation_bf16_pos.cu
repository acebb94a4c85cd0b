// bf16x3: each fp32 value becomes a bf16 and the bf16 of what the rounding left; three products are summed.
#include <cuda_bf16.h>
__device__ unsigned pack(float x, float y)
{
    const __nv_bfloat162 v = __floats2bfloat162_rn(x, y);
    return *reinterpret_cast<const unsigned*>(&v);
}
__device__ void split(float x, float y, unsigned& big, unsigned& rest)
{
    big = pack(x, y);
    rest = pack(x - __uint_as_float(big << 16), y - __uint_as_float(big & 0xffff0000u));
}
__device__ void mma(float4& c, const unsigned* a, const unsigned* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
extern "C" __global__ void gemm3x(float4* out, const float* a, const float* b, int k)
{
    float4 c = {0, 0, 0, 0};
#pragma unroll 1
    for (int step = 0; step < k; ++step) {
        unsigned a_big[4], a_rest[4], b_big[2], b_rest[2];
        for (int i = 0; i < 4; ++i) {
            const float* p = a + (step * 8 + 2 * i) * 32 + threadIdx.x;
            split(p[0], p[32], a_big[i], a_rest[i]);
        }
        for (int i = 0; i < 2; ++i) {
            const float* p = b + (step * 4 + 2 * i) * 32 + threadIdx.x;
            split(p[0], p[32], b_big[i], b_rest[i]);
        }
        mma(c, a_rest, b_big);
        mma(c, a_big, b_rest);
        mma(c, a_big, b_big);
    }
    out[threadIdx.x] = c;
}
