// A persistent grid that takes tiles from a global counter: dynamic scheduling in software.
extern "C" __global__ void cluster_launch_control_try_cancel(float* out, const float* in, int* next, int tiles)
{
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) {
            tile = atomicAdd(next, 1);
        }
        __syncthreads();
        const int mine = tile;
        __syncthreads();
        if (mine >= tiles) {
            return;
        }
        out[mine * 256 + threadIdx.x] = in[mine * 256 + threadIdx.x] * 2.0f;
    }
}
