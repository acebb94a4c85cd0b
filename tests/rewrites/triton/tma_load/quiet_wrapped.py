"""Rows that wrap around and are stored."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"M": 32, "N": 32}]


@triton.jit
def roll(x_ptr, y_ptr, M, N, shift, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    taken = (shift + tl.program_id(0) * BM + tl.arange(0, BM)) % M
    x = tl.load(x_ptr + taken[:, None] * N + columns[None, :])
    tl.store(y_ptr + rows[:, None] * N + columns[None, :], x)


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    M, N = x.shape
    roll[(M // 16, N // 16)](x, y, M, N, 3, BM=16, BN=16)


def reference(x, y):
    return {"y": x.roll(-3, 0)}
