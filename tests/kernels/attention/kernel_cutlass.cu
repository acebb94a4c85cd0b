// Attention forward for fp16 heads of 64 or 128 with CuTe: tiled mma on SM80 atoms (mma.m16n8k16),
// keys and values through swizzled shared memory, scores and weights in registers, online softmax.
#include <cute/tensor.hpp>
#include <cutlass/array.h>
#include <cutlass/cutlass.h>
#include <cutlass/numeric_conversion.h>
#include <cutlass/numeric_types.h>

#include <cuda_fp16.h>
#include <math_constants.h>

using namespace cute;
using Element = cutlass::half_t;

constexpr int BQ = 64, BK = 64;
constexpr int THREADS = 128;
constexpr unsigned ALL = 0xffffffffu;

template <int D>
struct Layouts {
    // Rows of 64 halves, swizzled so that neither 16-byte copies nor ldmatrix conflict.
    using Atom = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{}));
    using Rows = decltype(tile_to_shape(Atom{}, Shape<Int<BK>, Int<D>>{}));
    using Columns = decltype(composition(Rows{}, Layout<Shape<Int<D>, Int<BK>>, Stride<Int<BK>, _1>>{}));
    using Mma = TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>, Layout<Shape<_4, _1, _1>>,
                         Tile<Int<BQ>, _16, _16>>;
    static constexpr int HALVES = cosize_v<Rows>;
};

// 16-byte copies; rows beyond the end are zeros, because a weight of zero times them must be zero.
template <int D, class Shared>
__device__ __forceinline__ void copy_rows(Shared& tile, const Element* source, int rows) {
    using Vector = cutlass::AlignedArray<Element, 8>;
    for (int at = threadIdx.x; at < BK * D / 8; at += THREADS) {
        const int row = at / (D / 8), column = at % (D / 8) * 8;
        Vector values;
        values.fill(Element(0));
        if (row < rows) {
            values = *reinterpret_cast<const Vector*>(source + static_cast<size_t>(row) * D + column);
        }
        *reinterpret_cast<Vector*>(&tile(row, column)) = values;
    }
}

// The accumulator of 16 x 8 tiles ((2,2), M, N) seen as the operand A of 16 x 16 tiles
// ((2,2,2), M, N / 2).
template <class Accumulator>
__device__ __forceinline__ auto as_operand(Accumulator const& layout) {
    const auto split = logical_divide(layout, Shape<X, X, _2>{});
    return make_layout(make_layout(get<0>(split), get<2, 0>(split)), get<1>(split), get<2, 1>(split));
}

template <int D>
__global__ void __launch_bounds__(THREADS, 2)
    attention_forward(const Element* __restrict__ q, const Element* __restrict__ k,
                      const Element* __restrict__ v, Element* __restrict__ out, int length,
                      float scale) {
    using L = Layouts<D>;
    extern __shared__ __align__(1024) unsigned char shared[];
    Element* halves = reinterpret_cast<Element*>(shared);
    Tensor q_tile = make_tensor(make_smem_ptr(halves), typename L::Rows{});
    Tensor k_tile = make_tensor(make_smem_ptr(halves + L::HALVES), typename L::Rows{});
    Tensor v_tile = make_tensor(make_smem_ptr(halves + 2 * L::HALVES), typename L::Rows{});
    Tensor v_columns = make_tensor(v_tile.data(), typename L::Columns{});
    const size_t head = static_cast<size_t>(blockIdx.y) * length * D;
    const int first = blockIdx.x * BQ;

    typename L::Mma mma;
    auto mine = mma.get_thread_slice(threadIdx.x);
    auto copy_a = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, Element>{}, mma);
    auto copy_b = make_tiled_copy_B(Copy_Atom<SM75_U32x4_LDSM_N, Element>{}, mma);
    auto copy_v = make_tiled_copy_B(Copy_Atom<SM75_U16x8_LDSM_T, Element>{}, mma);
    auto thread_a = copy_a.get_slice(threadIdx.x);
    auto thread_b = copy_b.get_slice(threadIdx.x);
    auto thread_v = copy_v.get_slice(threadIdx.x);
    Tensor query = mine.partition_fragment_A(q_tile);
    Tensor key = mine.partition_fragment_B(k_tile);
    Tensor value = mine.partition_fragment_B(v_columns);
    Tensor scores = partition_fragment_C(mma, Shape<Int<BQ>, Int<BK>>{});
    Tensor sums = partition_fragment_C(mma, Shape<Int<BQ>, Int<D>>{});
    clear(sums);
    // Where each score of this thread stands in the tile: (row, key).
    Tensor places = mine.partition_C(make_identity_tensor(Shape<Int<BQ>, Int<BK>>{}));
    Tensor results = mine.partition_C(make_identity_tensor(Shape<Int<BQ>, Int<D>>{}));

    copy_rows<D>(q_tile, q + head + static_cast<size_t>(first) * D, length - first);
    __syncthreads();
    copy(copy_a, thread_a.partition_S(q_tile), thread_a.retile_D(query));

    float peak[2] = {-CUDART_INF_F, -CUDART_INF_F}, total[2] = {0.0f, 0.0f};
    for (int start = 0; start < length; start += BK) {
        __syncthreads();  // the block before was read by all
        copy_rows<D>(k_tile, k + head + static_cast<size_t>(start) * D, length - start);
        copy_rows<D>(v_tile, v + head + static_cast<size_t>(start) * D, length - start);
        __syncthreads();
        copy(copy_b, thread_b.partition_S(k_tile), thread_b.retile_D(key));
        clear(scores);
        gemm(mma, query, key, scores);

        // Mode 0 of an accumulator is (column of a pair, row of two): row = index / 2.
        float higher[2] = {peak[0], peak[1]}, shrink[2], added[2] = {0.0f, 0.0f};
        CUTE_UNROLL
        for (int n = 0; n < size<2>(scores); ++n) {
            CUTE_UNROLL
            for (int i = 0; i < 4; ++i) {
                const bool inside = start + get<1>(places(i, 0, n)) < length;
                scores(i, 0, n) = inside ? scores(i, 0, n) * scale : -CUDART_INF_F;
                higher[i / 2] = fmaxf(higher[i / 2], scores(i, 0, n));
            }
        }
        CUTE_UNROLL
        for (int r = 0; r < 2; ++r) {
            higher[r] = fmaxf(higher[r], __shfl_xor_sync(ALL, higher[r], 1));
            higher[r] = fmaxf(higher[r], __shfl_xor_sync(ALL, higher[r], 2));
            shrink[r] = exp2f(peak[r] - higher[r]);
            peak[r] = higher[r];
        }
        CUTE_UNROLL
        for (int n = 0; n < size<2>(scores); ++n) {
            CUTE_UNROLL
            for (int i = 0; i < 4; ++i) {
                scores(i, 0, n) = exp2f(scores(i, 0, n) - peak[i / 2]);
                added[i / 2] += scores(i, 0, n);
            }
        }
        CUTE_UNROLL
        for (int r = 0; r < 2; ++r) total[r] = total[r] * shrink[r] + added[r];
        CUTE_UNROLL
        for (int n = 0; n < size<2>(sums); ++n) {
            CUTE_UNROLL
            for (int i = 0; i < 4; ++i) sums(i, 0, n) *= shrink[i / 2];
        }
        Tensor weights = make_tensor<Element>(scores.layout());
        CUTE_UNROLL
        for (int i = 0; i < size(scores); ++i) weights(i) = Element(scores(i));
        Tensor operand = make_tensor(weights.data(), as_operand(weights.layout()));
        copy(copy_v, thread_v.partition_S(v_columns), thread_v.retile_D(value));
        gemm(mma, operand, value, sums);
    }
    CUTE_UNROLL
    for (int r = 0; r < 2; ++r) {
        total[r] += __shfl_xor_sync(ALL, total[r], 1);
        total[r] += __shfl_xor_sync(ALL, total[r], 2);
        const int row = first + get<0>(results(2 * r, 0, 0));
        if (row >= length) continue;
        const float factor = 1.0f / total[r];
        Element* target = out + head + static_cast<size_t>(row) * D;
        CUTE_UNROLL
        for (int n = 0; n < size<2>(sums); ++n) {
            *reinterpret_cast<half2*>(target + get<1>(results(2 * r, 0, n))) =
                __floats2half2_rn(sums(2 * r, 0, n) * factor, sums(2 * r + 1, 0, n) * factor);
        }
    }
}

template <int D>
void launch(const half* q, const half* k, const half* v, half* out, int heads, int length) {
    constexpr int bytes = 3 * Layouts<D>::HALVES * sizeof(Element);
    cudaFuncSetAttribute(attention_forward<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    // exp2 of scores in units of ln 2 is exp of the scores.
    const float scale = 1.4426950408889634f / sqrtf(static_cast<float>(D));
    attention_forward<D><<<dim3((length + BQ - 1) / BQ, heads), THREADS, bytes>>>(
        reinterpret_cast<const Element*>(q), reinterpret_cast<const Element*>(k),
        reinterpret_cast<const Element*>(v), reinterpret_cast<Element*>(out), length, scale);
}

extern "C" void solve(const half* q, const half* k, const half* v, half* out, int B, int H, int S,
                      int D) {
    if (D == 64) launch<64>(q, k, v, out, B * H, S);
    if (D == 128) launch<128>(q, k, v, out, B * H, S);
}
