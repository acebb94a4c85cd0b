// Asks the hardware for the next block that has not been launched yet.
extern "C" __global__ void steal(uint4* out)
{
    __shared__ alignas(16) uint4 answer;
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&answer));
    const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(bar) : "memory");
        asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
                     ::"r"(to), "r"(bar) : "memory");
    }
    __syncthreads();
    out[blockIdx.x] = answer;
}
