// GEMM on tensor cores through CUTLASS, accumulated in fp32.
#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm.h>
#include <cuda_fp16.h>

constexpr int BM = 128;     // kbs:tunable 64, 128
constexpr int BN = 64;      // kbs:tunable 64, 128
constexpr int BK = 32;      // kbs:tunable 16, 32
constexpr int SLICES = 2;   // kbs:tunable 1, 2
constexpr int STAGES = 4;   // kbs:tunable 3, 4, 5
#define TF32_MMA 1          // kbs:method tf32_precision
// Groups of warps may share a tile, each with a part of its depth; an instruction takes 8 of it
// and a warp at least two.
constexpr int DEPTH = BK / SLICES < 16 ? 16 : BK / SLICES;

using Row = cutlass::layout::RowMajor;
using Epilogue = cutlass::epilogue::thread::LinearCombination<float, 4, float, float>;
using Swizzle = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>;
#if TF32_MMA
using Gemm = cutlass::gemm::device::Gemm<
    float, Row, float, Row, float, Row, float, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<BM, BN, BK>,
    cutlass::gemm::GemmShape<BM / 2, BN / 2, DEPTH>, cutlass::gemm::GemmShape<16, 8, 8>, Epilogue,
    Swizzle, STAGES>;
#else
using Gemm = cutlass::gemm::device::Gemm<
    float, Row, float, Row, float, Row, float, cutlass::arch::OpClassSimt, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<BM, BN, 8>, cutlass::gemm::GemmShape<BM / 2, BN / 4, 8>,
    cutlass::gemm::GemmShape<1, 1, 1>,
    cutlass::epilogue::thread::LinearCombination<float, 1, float, float>, Swizzle, STAGES>;
#endif

void launch(const float *a, const float *b, float *out, int M, int K, int N)
{
    Gemm gemm;
    gemm({{M, N, K}, {a, K}, {b, N}, {out, N}, {out, N}, {1.f, 0.f}});
}

// kbs:adapter
extern "C" void solve(const float *a, const float *b, float *out, int M, int N, int K)
{
    launch(a, b, out, M, K, N);
}
// kbs:end
