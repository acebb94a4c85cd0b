// Plain bf16 attention: scores minus the running maximum, row sums by FADD, and products of bf16. Nothing is split.
#include <cuda_bf16.h>
__device__ unsigned pack(float x, float y)
{
    const __nv_bfloat162 v = __floats2bfloat162_rn(x, y);
    return *reinterpret_cast<const unsigned*>(&v);
}
__device__ void mma(float4& c, const unsigned* a, const unsigned* b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
extern "C" __global__ void bf16x3_split_attention(float4* out, const unsigned* q, const unsigned* kv, int steps)
{
    float4 o[4] = {};
    float sum = 0, top = -1e30f;
    unsigned a[4];
    for (int i = 0; i < 4; ++i) a[i] = q[i * 32 + threadIdx.x];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        float4 s[4] = {};
        unsigned p[4];
        for (int j = 0; j < 4; ++j) mma(s[j], a, kv + (step * 16 + j * 2) * 32);
        for (int j = 0; j < 4; ++j) top = fmaxf(top, fmaxf(fmaxf(s[j].x, s[j].y), fmaxf(s[j].z, s[j].w)));
        for (int j = 0; j < 4; ++j) {
            s[j].x = exp2f(s[j].x - top), s[j].y = exp2f(s[j].y - top);
            s[j].z = exp2f(s[j].z - top), s[j].w = exp2f(s[j].w - top);
            sum += s[j].x + s[j].y + s[j].z + s[j].w;
            p[j] = pack(s[j].x + s[j].y, s[j].z + s[j].w);
        }
        for (int j = 0; j < 4; ++j) mma(o[j], p, kv + (step * 16 + 8 + j * 2) * 32);
    }
    for (int j = 0; j < 4; ++j) {
        o[j].x /= sum;
        out[j * 32 + threadIdx.x] = o[j];
    }
}
