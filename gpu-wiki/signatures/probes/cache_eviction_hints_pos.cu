// Evict-last for reused data and no-allocate for a stream, as L1 priorities on the accesses.
extern "C" __global__ void hinted(float* out, const float* table, const float* stream, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float t;
    float s;
    asm volatile("ld.global.L1::evict_last.f32 %0, [%1];" : "=f"(t) : "l"(table + i % n));
    asm volatile("ld.global.L1::no_allocate.f32 %0, [%1];" : "=f"(s) : "l"(stream + i));
    out[i] = t * s;
}
