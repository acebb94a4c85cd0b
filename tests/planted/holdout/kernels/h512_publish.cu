#include <cuda_runtime.h>

constexpr int BATCH = 16;

__device__ float payload(int slot) { return slot * 0.5f + 1.f; }

// Each thread publishes its items: the data first, then the flag that readers poll.
__global__ void h512_publish(float* data, int* ready, int items) {
    int threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < items; ++i) {
        int slot = i * threads + t;
        data[slot] = payload(slot);
        __threadfence();
        ready[slot] = 1;
    }
}

__global__ void h512_publish_b(float* data, int* ready, int items) {
    int threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int first = 0; first < items; first += BATCH) {
        for (int i = first; i < first + BATCH; ++i) {
            int slot = i * threads + t;
            data[slot] = payload(slot);
        }
        __threadfence();
        for (int i = first; i < first + BATCH; ++i) ready[i * threads + t] = 1;
    }
}

extern "C" int h512_run(float* data, int* ready, long long blocks, long long items,
                        cudaStream_t stream) {
    h512_publish<<<blocks, 256, 0, stream>>>(data, ready, items);
    return cudaGetLastError();
}

extern "C" int h512_fixed(float* data, int* ready, long long blocks, long long items,
                          cudaStream_t stream) {
    h512_publish_b<<<blocks, 256, 0, stream>>>(data, ready, items);
    return cudaGetLastError();
}
