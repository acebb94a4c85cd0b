"""Tiled transpose."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 40, "N": 24}]


@triton.jit
def transpose_kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tile = tl.load(x + rm[:, None] * N + rn[None, :], mask=mask)
    tl.store(y + rn[:, None] * M + rm[None, :], tl.trans(tile), mask=tl.trans(mask))


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty(N, M, device=DEVICE)}, "outputs": ["y"]}


def run_kernel(x, y):
    M, N = x.shape
    transpose_kernel[(triton.cdiv(M, 16), triton.cdiv(N, 16))](x, y, M, N, BM=16, BN=16)


def reference(x, y):
    return {"y": x.t().contiguous()}
