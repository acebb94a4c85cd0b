// Four 8x8 fragments per warp with one ldmatrix.x4.
extern "C" __global__ void fragments(uint4* out, const uint4* in)
{
    __shared__ alignas(16) uint4 tile[32];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
    uint4 f;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.x), "=r"(f.y), "=r"(f.z), "=r"(f.w) : "r"(address));
    out[threadIdx.x] = f;
}
