// Layer normalization of the rows of an M x N fp32 matrix with CUTLASS arrays: one warp a row,
// 16-byte vectors, Welford's update within a lane and Chan's merge between lanes, so that one
// read gives mean and variance without cancellation.
#include <cutlass/array.h>
#include <cutlass/cutlass.h>

#include <cuda_runtime.h>

constexpr int WARPS = 8;  // kbs:tunable 4, 8, 16
constexpr unsigned ALL = 0xffffffffu;

template <int Width>
__global__ void __launch_bounds__(32 * WARPS)
    layernorm_rows(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ out, int rows, int columns,
                   float eps) {
    using Vector = cutlass::AlignedArray<float, Width>;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    const int lane = threadIdx.x % 32, vectors = columns / Width;
    const size_t start = static_cast<size_t>(row) * columns;
    const Vector* from = reinterpret_cast<const Vector*>(x + start);
    const Vector* weights = reinterpret_cast<const Vector*>(weight);
    const Vector* biases = reinterpret_cast<const Vector*>(bias);
    Vector* to = reinterpret_cast<Vector*>(out + start);
    float count = 0.0f, mean = 0.0f, square = 0.0f;
    for (int at = lane; at < vectors; at += 32) {
        const Vector values = from[at];
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < Width; ++i) {
            count += 1.0f;
            const float step = values[i] - mean;
            mean += step / count;
            square += step * (values[i] - mean);
        }
    }
    CUTLASS_PRAGMA_UNROLL
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const float other_count = __shfl_xor_sync(ALL, count, lanes);
        const float other_mean = __shfl_xor_sync(ALL, mean, lanes);
        const float other_square = __shfl_xor_sync(ALL, square, lanes);
        const float both = count + other_count;
        if (both > 0.0f) {
            const float step = other_mean - mean, share = other_count / both;
            square += other_square + step * step * count * share;
            mean += step * share;
            count = both;
        }
    }
    const float scale = rsqrtf(square / columns + eps);
    for (int at = lane; at < vectors; at += 32) {
        const Vector w = weights[at], b = biases[at];
        Vector values = from[at];
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < Width; ++i) values[i] = (values[i] - mean) * scale * w[i] + b[i];
        to[at] = values;
    }
}

extern "C" void solve(const float* x, const float* weight, const float* bias, float* out, int M,
                      int N, float eps) {
    const int blocks = (M + WARPS - 1) / WARPS;
    if (N % 4 == 0) {
        layernorm_rows<4><<<blocks, 32 * WARPS>>>(x, weight, bias, out, M, N, eps);
    } else {
        layernorm_rows<1><<<blocks, 32 * WARPS>>>(x, weight, bias, out, M, N, eps);
    }
}
