// One warp only fetches, the others only compute; full and empty barriers stand between them.
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void wait(unsigned bar, unsigned parity)
{
    unsigned done = 0;
    while (!done) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    }
}
extern "C" __global__ void __launch_bounds__(160) producer_consumer(float* out, const float* in, int steps)
{
    __shared__ alignas(128) float tile[2][512];
    __shared__ alignas(8) unsigned long long full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; ++s) {
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full[s])));
            asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(shared_address(&empty[s])));
        }
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        if (threadIdx.x == 128) {
#pragma unroll 1
            for (int k = 0; k < steps; ++k) {
                wait(shared_address(&empty[k & 1]), ((k >> 1) & 1) ^ 1);
                const unsigned bar = shared_address(&full[k & 1]);
                asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 2048;" ::"r"(bar) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];"
                             ::"r"(shared_address(tile[k & 1])), "l"(in + k * 512), "r"(bar) : "memory");
            }
        }
        return;
    }
    float sum[8] = {};
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        wait(shared_address(&full[k & 1]), (k >> 1) & 1);
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            sum[i & 7] = fmaf(tile[k & 1][(threadIdx.x + i * 4) & 511], tile[k & 1][i * 16], sum[i & 7]);
        }
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(&empty[k & 1])) : "memory");
    }
    for (int i = 0; i < 8; ++i) {
        out[i * 128 + threadIdx.x] = sum[i];
    }
}
