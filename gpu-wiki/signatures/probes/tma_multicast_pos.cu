// One bulk tensor copy that lands in the shared memory of both blocks of a cluster.
struct alignas(64) TensorMap { unsigned char opaque[128]; };
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
extern "C" __global__ __cluster_dims__(2) void load_for_cluster(const __grid_constant__ TensorMap map, float* out)
{
    __shared__ alignas(128) float tile[1024];
    __shared__ alignas(8) unsigned long long barrier;
    const unsigned bar = shared_address(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4096;" ::"r"(bar));
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0 && blockIdx.x % 2 == 0) {
        const unsigned short mask = 3;
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
            "[%1, {%2, %3}], [%4], %5;"
            ::"r"(shared_address(tile)), "l"(&map), "r"(0), "r"(0), "r"(bar), "h"(mask) : "memory");
    }
    unsigned done = 0;
    while (!done) {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(bar) : "memory");
    }
    out[blockIdx.x * 1024 + threadIdx.x] = tile[threadIdx.x];
}
