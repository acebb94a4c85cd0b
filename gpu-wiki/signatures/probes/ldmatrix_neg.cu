// Loads fragments with wide shared loads and transposes one in registers (movmatrix): no ldmatrix.
extern "C" __global__ void ldmatrix_x4_LDSM(uint4* out, const uint4* in)
{
    __shared__ alignas(16) uint4 tile[32];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    uint4 f = tile[threadIdx.x ^ 3];
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(f.x) : "r"(f.y));
    out[threadIdx.x] = f;
}
