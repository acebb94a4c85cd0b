// Softmax over rows of an M x N fp32 matrix with CUTLASS arrays: one warp a row, 16-byte vectors,
// an online maximum and sum, then a second read that L1 or L2 serves.
#include <cutlass/array.h>
#include <cutlass/cutlass.h>
#include <cutlass/fast_math.h>
#include <cutlass/functional.h>

#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int WARPS = 8;  // kbs:tunable 4, 8, 16
constexpr unsigned ALL = 0xffffffffu;

template <int Width>
__global__ void __launch_bounds__(32 * WARPS)
    softmax_rows(const float* __restrict__ x, float* __restrict__ out, int rows, int columns) {
    using Vector = cutlass::AlignedArray<float, Width>;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    const int lane = threadIdx.x % 32, vectors = columns / Width;
    const size_t start = static_cast<size_t>(row) * columns;
    const Vector* from = reinterpret_cast<const Vector*>(x + start);
    Vector* to = reinterpret_cast<Vector*>(out + start);
    cutlass::maximum<float> highest;
    float peak = -CUDART_INF_F, total = 0.0f;
    for (int at = lane; at < vectors; at += 32) {
        const Vector values = from[at];
        float higher = peak;
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < Width; ++i) higher = highest(higher, values[i]);
        total *= cutlass::fast_exp(peak - higher);
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < Width; ++i) total += cutlass::fast_exp(values[i] - higher);
        peak = higher;
    }
    CUTLASS_PRAGMA_UNROLL
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const float other_peak = __shfl_xor_sync(ALL, peak, lanes);
        const float other_total = __shfl_xor_sync(ALL, total, lanes);
        const float higher = highest(peak, other_peak);
        // Lanes without elements hold -inf and 0; the difference of two of them is no number.
        const float mine = peak == higher ? 1.0f : cutlass::fast_exp(peak - higher);
        const float theirs = other_peak == higher ? 1.0f : cutlass::fast_exp(other_peak - higher);
        total = total * mine + other_total * theirs;
        peak = higher;
    }
    const float factor = 1.0f / total;
    for (int at = lane; at < vectors; at += 32) {
        Vector values = from[at];
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < Width; ++i) values[i] = cutlass::fast_exp(values[i] - peak) * factor;
        to[at] = values;
    }
}

extern "C" void solve(const float* x, float* out, int M, int N) {
    const int blocks = (M + WARPS - 1) / WARPS;
    if (N % 4 == 0) {
        softmax_rows<4><<<blocks, 32 * WARPS>>>(x, out, M, N);
    } else {
        softmax_rows<1><<<blocks, 32 * WARPS>>>(x, out, M, N);
    }
}
