"""Scan along rows."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 3, "N": 50}]


@triton.jit
def cumsum_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    tl.store(y_ptr + row * n + cols, tl.cumsum(x, axis=0), mask=cols < n)


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    rows, cols = x.shape
    cumsum_rows[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))


def reference(x, y):
    return {"y": torch.cumsum(x, dim=1)}
