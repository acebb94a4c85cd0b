// Reads the neighbour block's shared memory between two cluster barriers.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __cluster_dims__(2) void exchange(float* out, const float* in)
{
    __shared__ float mine[256];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    cluster.sync();
    const float* other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    const float value = other[threadIdx.x];
    cluster.sync();
    out[blockIdx.x * 256 + threadIdx.x] = value;
}
