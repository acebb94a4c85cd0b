// Uses the copy engine for the store and for an L2 prefetch only; the load is an ordinary one.
struct alignas(64) TensorMap { unsigned char opaque[128]; };
__device__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
extern "C" __global__ void tma_load_UTMALDG(const __grid_constant__ TensorMap map, const float* in)
{
    __shared__ alignas(128) float tile[1024];
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(0), "r"(0));
    tile[threadIdx.x] = in[blockIdx.x * 1024 + threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                     ::"l"(&map), "r"(0), "r"(static_cast<int>(blockIdx.x) * 32), "r"(shared_address(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
