#include <cuda_runtime.h>

constexpr int LISTS = 4;

// Sums along linked lists; a node is (next, value). Each thread owns four lists.
__global__ void h520_chase(const int2* __restrict__ node, const int* __restrict__ head,
                           int* __restrict__ out, int length) {
    int threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int l = 0; l < LISTS; ++l) {
        int at = head[l * threads + t], sum = 0;
#pragma unroll 1
        for (int i = 0; i < length; ++i) {
            int2 n = node[at];
            sum += n.y;
            at = n.x;
        }
        out[l * threads + t] = sum;
    }
}

__global__ void h520_chase_b(const int2* __restrict__ node, const int* __restrict__ head,
                             int* __restrict__ out, int length) {
    int threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    int at[LISTS], sum[LISTS] = {};
#pragma unroll
    for (int l = 0; l < LISTS; ++l) at[l] = head[l * threads + t];
#pragma unroll 1
    for (int i = 0; i < length; ++i) {
#pragma unroll
        for (int l = 0; l < LISTS; ++l) {
            int2 n = node[at[l]];
            sum[l] += n.y;
            at[l] = n.x;
        }
    }
#pragma unroll
    for (int l = 0; l < LISTS; ++l) out[l * threads + t] = sum[l];
}

extern "C" int h520_run(const int2* node, const int* head, int* out, long long blocks,
                        long long length, cudaStream_t stream) {
    h520_chase<<<blocks, 64, 0, stream>>>(node, head, out, length);
    return cudaGetLastError();
}

extern "C" int h520_fixed(const int2* node, const int* head, int* out, long long blocks,
                          long long length, cudaStream_t stream) {
    h520_chase_b<<<blocks, 64, 0, stream>>>(node, head, out, length);
    return cudaGetLastError();
}
