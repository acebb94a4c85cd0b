// A cluster with cluster barriers whose blocks exchange through global memory.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void distributed_shared_memory_dsmem(float* out, float* scratch, const float* in)
{
    __shared__ float mine[256];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    scratch[blockIdx.x * 256 + threadIdx.x] = mine[threadIdx.x ^ 5];
    cluster.sync();
    out[blockIdx.x * 256 + threadIdx.x] = scratch[(blockIdx.x ^ 1) * 256 + threadIdx.x];
}
