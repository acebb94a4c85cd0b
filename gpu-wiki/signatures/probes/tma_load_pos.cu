// Bulk tensor load into shared memory, completion on an mbarrier.
#include <cuda/std/cstdint>
struct alignas(64) TensorMap { unsigned char opaque[128]; };
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
extern "C" __global__ void load_tile(const __grid_constant__ TensorMap map, float* out)
{
    __shared__ alignas(128) float tile[1024];
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned bar = shared_address(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(bar));
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
            ::"r"(shared_address(tile)), "l"(&map), "r"(0), "r"(static_cast<int>(blockIdx.x) * 32), "r"(bar) : "memory");
    }
    unsigned done = 0;
    while (!done) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(bar) : "memory");
    }
    out[blockIdx.x * 1024 + threadIdx.x] = tile[threadIdx.x];
}
