// GEMM in TF32 on Hopper's tensor cores (wgmma fed by TMA) through CUTLASS, accumulated in fp32.
// wgmma takes TF32 from shared memory along k alone, and rows of b lie along n: so b, transposed,
// is the left operand, which may come from registers, and out is computed as its transpose.
#ifndef NDEBUG
#define NDEBUG  // asserts are calls, and wgmma around a call is serialized (ptxas C7510)
#endif
#include <cstdio>
#include <cstdlib>
#include <cutlass/cutlass.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

constexpr int BN = 64;       // kbs:tunable 64, 128
constexpr int BM = 128;      // kbs:tunable 64, 128
constexpr int BK = 32;       // kbs:tunable 32, 64
constexpr int CLUSTER = 1;   // kbs:tunable 1, 2

using cute::_1, cute::Int, cute::Shape;
using Along = cutlass::layout::ColumnMajor;  // of a transposed matrix: as its rows lie
using Tile = Shape<Int<BN>, Int<BM>, Int<BK>>;
using Blocks = Shape<Int<CLUSTER>, _1, _1>;
using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Blocks,
    cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, Along, 4, float, Along, 4,
    cutlass::epilogue::TmaWarpSpecialized>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, float, Along, 4, float, Along, 4, float,
    Tile, Blocks,
    cutlass::gemm::collective::StageCountAutoCarveout<sizeof(typename Epilogue::SharedStorage)>,
    cutlass::gemm::KernelTmaWarpSpecialized>::CollectiveOp;
using Kernel =
    cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

void launch(const float *a, const float *b, float *out, int M, int K, int N)
{
    const Kernel::StrideA left{_1{}, N, 0};
    const Kernel::StrideB right{K, _1{}, 0};
    const Kernel::StrideD result{_1{}, N, 0};
    const Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                    {N, M, K, 1},
                                    {b, left, a, right},
                                    {{1.f, 0.f}, nullptr, result, out, result}};
    Gemm gemm;
    if (Gemm::can_implement(arguments) != cutlass::Status::kSuccess ||
        gemm.initialize(arguments) != cutlass::Status::kSuccess ||
        gemm.run() != cutlass::Status::kSuccess) {
        std::fprintf(stderr, "matmul_tensor_hopper: M=%d N=%d K=%d cannot be launched\n", M, N, K);
        std::abort();
    }
}

// kbs:adapter
extern "C" void solve(const float *a, const float *b, float *out, int M, int N, int K)
{
    launch(a, b, out, M, K, N);
}
// kbs:end
