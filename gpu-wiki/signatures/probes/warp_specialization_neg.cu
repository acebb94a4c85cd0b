// The same barriers and copies, but the computing warps issue the fetches themselves inside their loop.
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
extern "C" __global__ void __launch_bounds__(128) warp_specialized_producer_consumer(float* out, const float* in, int steps)
{
    __shared__ alignas(128) float tile[512];
    __shared__ alignas(8) unsigned long long full;
    const unsigned bar = shared_address(&full);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    }
    __syncthreads();
    float sum[8] = {};
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 2048;" ::"r"(bar) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];"
                         ::"r"(shared_address(tile)), "l"(in + k * 512), "r"(bar) : "memory");
        }
        unsigned done = 0;
        while (!done) {
            asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done) : "r"(bar), "r"(k & 1) : "memory");
        }
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            sum[i & 7] = fmaf(tile[(threadIdx.x + i * 4) & 511], tile[i * 16], sum[i & 7]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; ++i) {
        out[i * 128 + threadIdx.x] = sum[i];
    }
}
