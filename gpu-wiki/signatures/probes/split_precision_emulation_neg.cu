// Plain TF32 unrolled four times: many TF32 products per iteration, but nothing is split.
__device__ unsigned big(float x)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
}
extern "C" __global__ void gemm_3xtf32_emulation(float4* out, const float* a, const float* b, int k)
{
    float4 c = {0, 0, 0, 0};
#pragma unroll 4
    for (int step = 0; step < k; ++step) {
        unsigned x[4], y[2];
        for (int i = 0; i < 4; ++i) {
            x[i] = big(a[(step * 4 + i) * 32 + threadIdx.x]);
        }
        for (int i = 0; i < 2; ++i) {
            y[i] = big(b[(step * 2 + i) * 32 + threadIdx.x]);
        }
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c.x), "+f"(c.y), "+f"(c.z), "+f"(c.w)
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    c.x += a[0];
    out[threadIdx.x] = c;
}
