// kbs:arch sm_90a sm_100a sm_103a sm_110a sm_120a
// Two stages with bulk copies: the prologue fills a stage, the loop waits on an mbarrier and refills.
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void fetch(float* to, const float* from, unsigned bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                 ::"r"(shared_address(to)), "l"(from), "r"(bar) : "memory");
}
extern "C" __global__ void pipelined(float* out, const float* in, int steps)
{
    __shared__ alignas(128) float tile[2][256];
    __shared__ alignas(8) unsigned long long barriers[2];
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barriers[0])));
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&barriers[1])));
        fetch(tile[0], in, shared_address(&barriers[0]));
    }
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        if (threadIdx.x == 0 && k + 1 < steps) {
            fetch(tile[(k + 1) & 1], in + (k + 1) * 256, shared_address(&barriers[(k + 1) & 1]));
        }
        unsigned done = 0;
        while (!done) {
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done) : "r"(shared_address(&barriers[k & 1])), "r"((k >> 1) & 1) : "memory");
        }
        sum += tile[k & 1][threadIdx.x] * tile[k & 1][threadIdx.x ^ 1];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
