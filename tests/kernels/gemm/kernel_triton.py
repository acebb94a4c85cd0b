"""C = A B in fp16 with fp32 accumulation: tiles in grouped order, so that panels stay in L2."""

import torch
import triton
import triton.language as tl

GROUP_M = 8  # kbs:tunable 1, 4, 8


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64}, num_stages=3, num_warps=8),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64}, num_stages=4, num_warps=4),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 128, "BLOCK_K": 64}, num_stages=4, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def gemm_tiles(
    a,
    b,
    c,
    M,
    N,
    K,
    stride_am,
    stride_bk,
    stride_cm,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    program = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    per_group = GROUP * tiles_n
    first_m = (program // per_group) * GROUP
    group_m = min(tiles_m - first_m, GROUP)
    tile_m = first_m + (program % per_group) % group_m
    tile_n = (program % per_group) // group_m
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    # Rows and columns beyond the edge wrap around: they are computed and never stored.
    a_at = a + (rows % M)[:, None] * stride_am + depth[None, :]
    b_at = b + depth[:, None] * stride_bk + (columns % N)[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a_tile = tl.load(a_at, mask=depth[None, :] < left, other=0.0)
        b_tile = tl.load(b_at, mask=depth[:, None] < left, other=0.0)
        sums = tl.dot(a_tile, b_tile, sums)
        a_at += BLOCK_K
        b_at += BLOCK_K * stride_bk
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * stride_cm + columns[None, :], sums.to(tl.float16), mask=inside)


def setup(M=4096, N=4096, K=4096, seed=0):
    torch.manual_seed(seed)
    a = torch.randn(M, K, device="cuda", dtype=torch.float16)
    b = torch.randn(K, N, device="cuda", dtype=torch.float16)
    c = torch.empty(M, N, device="cuda", dtype=torch.float16)
    return {"inputs": {"a": a, "b": b, "c": c, "M": M, "N": N, "K": K}, "outputs": ["c"]}


def run_kernel(a, b, c, M, N, K, **_):
    def grid(meta):
        return (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)

    gemm_tiles[grid](a, b, c, M, N, K, a.stride(0), b.stride(0), c.stride(0), GROUP=GROUP_M)
