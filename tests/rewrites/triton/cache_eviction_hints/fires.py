"""A row read once, a vector read by every program."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"M": 4, "N": 50}]


@triton.jit
def scale(x_ptr, w_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n)
    w = tl.load(w_ptr + cols, mask=cols < n)
    tl.store(y_ptr + row * n + cols, x * w, mask=cols < n)


def setup(M, N):
    x, w = torch.randn(M, N, device=DEVICE), torch.randn(N, device=DEVICE)
    return {"inputs": {"x": x, "w": w, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, w, y):
    scale[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=64)


def reference(x, w, y):
    return {"y": x * w}
