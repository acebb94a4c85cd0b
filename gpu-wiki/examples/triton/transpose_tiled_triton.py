"""Transpose by tiles: both sides of the copy are coalesced."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK_M = 64  # kbs:tunable 32, 64, 128
BLOCK_N = 64  # kbs:tunable 32, 64, 128
NUM_WARPS = 4  # kbs:tunable 4, 8


@triton.jit
def transpose_tiled(x, out, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    at_m = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    at_n = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    tile = tl.load(x + at_m[:, None] * N + at_n[None, :],
                   mask=(at_m[:, None] < M) & (at_n[None, :] < N), other=0.0)
    tl.store(out + at_n[:, None] * M + at_m[None, :], tl.trans(tile),
             mask=(at_n[:, None] < N) & (at_m[None, :] < M))


def launch(x, out):
    rows, columns = x.shape
    grid = (triton.cdiv(rows, BLOCK_M), triton.cdiv(columns, BLOCK_N))
    transpose_tiled[grid](
        x, out, rows, columns, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, num_warps=NUM_WARPS
    )


# kbs:adapter
def setup(M=1024, N=1024, **dims):
    inputs = {"x": torch.randn(M, N, device=DEVICE), "out": torch.empty(N, M, device=DEVICE)}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(x, out, **dims):
    launch(x, out)
# kbs:end
