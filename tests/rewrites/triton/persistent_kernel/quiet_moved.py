"""A parameter that moves would move once a tile."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"M": 5, "N": 60}, {"M": 4, "N": 64}]


@triton.jit
def negate(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    y_ptr += tl.program_id(0) * n
    cols = tl.arange(0, BLOCK)
    tl.store(y_ptr + cols, -tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    M, N = x.shape
    negate[(M,)](x, y, N, BLOCK=64)


def reference(x, y):
    return {"y": -x}
