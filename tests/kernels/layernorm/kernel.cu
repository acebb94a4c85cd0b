// Layer normalization of the rows of an M x N fp32 matrix: one block a row, kept in registers
// between mean, variance (two passes, so that large means cancel nothing) and result.
#include <cuda_runtime.h>

constexpr int THREADS = 256;  // kbs:tunable 128, 256, 512
constexpr int VECTORS = 8;    // kbs:tunable 4, 8
constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ float block_sum(float value, float* parts) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(ALL, value, lane);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
#pragma unroll
    for (int warp = 1; warp < WARPS; ++warp) value += parts[warp];
    return value;
}

__device__ __forceinline__ float squared(float value) { return value * value; }

// VECTORS float4 per thread: N <= 4 * THREADS * VECTORS, N a multiple of 4.
__global__ void __launch_bounds__(THREADS)
    layernorm_registers(const float4* __restrict__ x, const float4* __restrict__ weight,
                        const float4* __restrict__ bias, float4* __restrict__ out, int vectors,
                        float eps) {
    __shared__ float sums[WARPS], squares[WARPS];
    const float4* row = x + static_cast<size_t>(blockIdx.x) * vectors;
    float4* result = out + static_cast<size_t>(blockIdx.x) * vectors;
    const float columns = 4.0f * vectors;
    float4 kept[VECTORS];
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = threadIdx.x + i * THREADS;
        kept[i] = at < vectors ? row[at] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        total += (kept[i].x + kept[i].y) + (kept[i].z + kept[i].w);
    }
    const float mean = block_sum(total, sums) / columns;
    float square = 0.0f;
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        if (threadIdx.x + i * THREADS < vectors) {
            square += squared(kept[i].x - mean) + squared(kept[i].y - mean) +
                      squared(kept[i].z - mean) + squared(kept[i].w - mean);
        }
    }
    const float scale = rsqrtf(block_sum(square, squares) / columns + eps);
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
        const int at = threadIdx.x + i * THREADS;
        if (at < vectors) {
            const float4 w = weight[at], b = bias[at];
            result[at] = make_float4((kept[i].x - mean) * scale * w.x + b.x,
                                     (kept[i].y - mean) * scale * w.y + b.y,
                                     (kept[i].z - mean) * scale * w.z + b.z,
                                     (kept[i].w - mean) * scale * w.w + b.w);
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    layernorm_rows(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ out, int columns, float eps) {
    __shared__ float sums[WARPS], squares[WARPS];
    const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
    float* result = out + static_cast<size_t>(blockIdx.x) * columns;
    float total = 0.0f;
    for (int at = threadIdx.x; at < columns; at += THREADS) total += row[at];
    const float mean = block_sum(total, sums) / columns;
    float square = 0.0f;
    for (int at = threadIdx.x; at < columns; at += THREADS) square += squared(row[at] - mean);
    const float scale = rsqrtf(block_sum(square, squares) / columns + eps);
    for (int at = threadIdx.x; at < columns; at += THREADS) {
        result[at] = (row[at] - mean) * scale * weight[at] + bias[at];
    }
}

extern "C" void solve(const float* x, const float* weight, const float* bias, float* out, int M,
                      int N, float eps) {
    if (N % 4 == 0 && N <= 4 * THREADS * VECTORS) {
        layernorm_registers<<<M, THREADS>>>(
            reinterpret_cast<const float4*>(x), reinterpret_cast<const float4*>(weight),
            reinterpret_cast<const float4*>(bias), reinterpret_cast<float4*>(out), N / 4, eps);
    } else {
        layernorm_rows<<<M, THREADS>>>(x, weight, bias, out, N, eps);
    }
}
