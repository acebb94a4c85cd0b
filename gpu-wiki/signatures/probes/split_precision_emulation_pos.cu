// 3xTF32: each operand is split into a big and a small part inside the loop; three products are summed.
__device__ unsigned big(float x)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
__device__ unsigned small(float x, unsigned b) { return big(x - __uint_as_float(b)); }
__device__ void mma(float4& c, const unsigned* a, const unsigned* b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
extern "C" __global__ void gemm3x(float4* out, const float* a, const float* b, int k)
{
    float4 c = {0, 0, 0, 0};
#pragma unroll 1
    for (int step = 0; step < k; ++step) {
        unsigned a_big[4], a_small[4], b_big[2], b_small[2];
        for (int i = 0; i < 4; ++i) {
            const float x = a[(step * 4 + i) * 32 + threadIdx.x];
            a_big[i] = big(x);
            a_small[i] = small(x, a_big[i]);
        }
        for (int i = 0; i < 2; ++i) {
            const float x = b[(step * 2 + i) * 32 + threadIdx.x];
            b_big[i] = big(x);
            b_small[i] = small(x, b_big[i]);
        }
        mma(c, a_small, b_big);
        mma(c, a_big, b_small);
        mma(c, a_big, b_big);
    }
    out[threadIdx.x] = c;
}
