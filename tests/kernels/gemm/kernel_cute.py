"""C = A B in fp16 with fp32 accumulation in CuTe DSL: one warp a 16 x 8 tile, mma.m16n8k16.

A small kernel that shows the tensor core through CuTe: operands come straight from global
memory and its caches. M must be a multiple of 16, N of 8, K of 16.
"""

import cutlass
import torch
from cutlass import cute
from cutlass.cute.nvgpu import warp
from cutlass.cute.runtime import from_dlpack

TILE_M, TILE_N, TILE_K = 16, 8, 16


@cute.kernel
def gemm_tiles(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma):
    lane, _, _ = cute.arch.thread_idx()
    tile_n, tile_m, _ = cute.arch.block_idx()
    a_tile = cute.local_tile(a, (TILE_M, TILE_K), (tile_m, None))
    b_tile = cute.local_tile(b, (TILE_N, TILE_K), (tile_n, None))
    c_tile = cute.local_tile(c, (TILE_M, TILE_N), (tile_m, tile_n))
    mine = mma.get_slice(lane)
    a_mine = mine.partition_A(a_tile)
    b_mine = mine.partition_B(b_tile)
    c_mine = mine.partition_C(c_tile)
    left = mma.make_fragment_A(a_mine[None, None, None, 0])
    right = mma.make_fragment_B(b_mine[None, None, None, 0])
    sums = mma.make_fragment_C(c_mine)
    sums.fill(0.0)
    for step in range(cute.size(a_tile, mode=[2])):
        cute.autovec_copy(a_mine[None, None, None, step], left)
        cute.autovec_copy(b_mine[None, None, None, step], right)
        cute.gemm(mma, sums, left, right, sums)
    result = cute.make_fragment_like(sums, cutlass.Float16)
    result.store(sums.load().to(cutlass.Float16))
    cute.autovec_copy(result, c_mine)


@cute.jit
def launch(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, M: cutlass.Int32, N: cutlass.Int32):
    operation = warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (TILE_M, TILE_N, TILE_K))
    mma = cute.make_tiled_mma(operation)
    gemm_tiles(a, b, c, mma).launch(grid=[N // TILE_N, M // TILE_M, 1], block=[32, 1, 1])


def setup(M=4096, N=4096, K=4096, seed=0):
    torch.manual_seed(seed)
    a = torch.randn(M, K, device="cuda", dtype=torch.float16)
    b = torch.randn(K, N, device="cuda", dtype=torch.float16)
    c = torch.empty(M, N, device="cuda", dtype=torch.float16)
    return {"inputs": {"a": a, "b": b, "c": c, "M": M, "N": N, "K": K}, "outputs": ["c"]}


_compiled = {}


def run_kernel(a, b, c, M, N, K, **_):
    # CuTe's B is N x K: a transposed view of ours.
    tensors = [from_dlpack(value) for value in (a, b.t(), c)]
    if (M, N, K) not in _compiled:
        _compiled[M, N, K] = cute.compile(launch, *tensors, M, N)
    _compiled[M, N, K](*tensors, M, N)
