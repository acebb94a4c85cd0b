// Sums of the rows of an M x N fp32 matrix: one block a row, 16-byte loads into four sums a
// thread, shuffles within warps, one step through shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 256;  // kbs:tunable 128, 256, 512
constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(ALL, value, lane);
    return value;
}

__global__ void __launch_bounds__(THREADS)
    row_sums(const float* __restrict__ x, float* __restrict__ out, int columns) {
    __shared__ float parts[WARPS];
    const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
    float total = 0.0f;
    if (columns % 4 == 0) {
        const float4* vectors = reinterpret_cast<const float4*>(row);
        float4 sums = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
        for (int at = threadIdx.x; at < columns / 4; at += THREADS) {
            const float4 value = __ldcs(vectors + at);
            sums.x += value.x;
            sums.y += value.y;
            sums.z += value.z;
            sums.w += value.w;
        }
        total = (sums.x + sums.y) + (sums.z + sums.w);
    } else {
        for (int at = threadIdx.x; at < columns; at += THREADS) total += row[at];
    }
    total = warp_sum(total);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x < 32) {
        total = warp_sum(threadIdx.x < WARPS ? parts[threadIdx.x] : 0.0f);
        if (threadIdx.x == 0) out[blockIdx.x] = total;
    }
}

extern "C" void solve(const float* x, float* out, int M, int N) {
    row_sums<<<M, THREADS>>>(x, out, N);
}
