// Softmax over rows of an M x N fp32 matrix: one block a row. A row that fits stays in registers
// between maximum, sum and result (one 16-byte read, one write); longer or unaligned rows take an
// online maximum and sum, and a second read.
#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int THREADS = 256;  // kbs:tunable 128, 256, 512
constexpr int VECTORS = 8;    // kbs:tunable 4, 8
constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(ALL, value, lane));
    return value;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(ALL, value, lane);
    return value;
}

__device__ __forceinline__ float block_max(float value) {
    __shared__ float parts[WARPS];
    value = warp_max(value);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
#pragma unroll
    for (int warp = 1; warp < WARPS; ++warp) value = fmaxf(value, parts[warp]);
    return value;
}

__device__ __forceinline__ float block_sum(float value) {
    __shared__ float parts[WARPS];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
#pragma unroll
    for (int warp = 1; warp < WARPS; ++warp) value += parts[warp];
    return value;
}

// VECTORS float4 per thread: N <= 4 * THREADS * VECTORS, N a multiple of 4.
__global__ void __launch_bounds__(THREADS)
    softmax_registers(const float4* __restrict__ x, float4* __restrict__ out, int vectors) {
    const float4* row = x + static_cast<size_t>(blockIdx.x) * vectors;
    float4* result = out + static_cast<size_t>(blockIdx.x) * vectors;
    float4 kept[VECTORS];
    float peak = -CUDART_INF_F;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = threadIdx.x + i * THREADS;
        kept[i] = at < vectors ? row[at]
                               : make_float4(-CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F, -CUDART_INF_F);
        peak = fmaxf(peak, fmaxf(fmaxf(kept[i].x, kept[i].y), fmaxf(kept[i].z, kept[i].w)));
    }
    peak = block_max(peak);
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        kept[i].x = __expf(kept[i].x - peak);
        kept[i].y = __expf(kept[i].y - peak);
        kept[i].z = __expf(kept[i].z - peak);
        kept[i].w = __expf(kept[i].w - peak);
        total += (kept[i].x + kept[i].y) + (kept[i].z + kept[i].w);
    }
    const float factor = 1.0f / block_sum(total);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = threadIdx.x + i * THREADS;
        if (at < vectors) {
            result[at] = make_float4(kept[i].x * factor, kept[i].y * factor, kept[i].z * factor,
                                     kept[i].w * factor);
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    softmax_online(const float* __restrict__ x, float* __restrict__ out, int columns) {
    const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
    float* result = out + static_cast<size_t>(blockIdx.x) * columns;
    float peak = -CUDART_INF_F;
    float total = 0.0f;
    for (int at = threadIdx.x; at < columns; at += THREADS) {
        const float value = row[at];
        if (value > peak) {
            total *= __expf(peak - value);
            peak = value;
        }
        total += __expf(value - peak);
    }
    const float highest = block_max(peak);
    // A thread without elements has peak -inf and total 0: its factor is 0.
    const float factor = 1.0f / block_sum(total * __expf(peak - highest));
    for (int at = threadIdx.x; at < columns; at += THREADS) {
        result[at] = __expf(row[at] - highest) * factor;
    }
}

extern "C" void solve(const float* x, float* out, int M, int N) {
    if (N % 4 == 0 && N <= 4 * THREADS * VECTORS) {
        softmax_registers<<<M, THREADS>>>(reinterpret_cast<const float4*>(x),
                                          reinterpret_cast<float4*>(out), N / 4);
    } else {
        softmax_online<<<M, THREADS>>>(x, out, N);
    }
}
