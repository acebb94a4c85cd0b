"""Rows masked with the largest finite number, one of them as a whole."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"M": 5, "N": 60}, {"M": 4, "N": 64}]


@triton.jit
def softmax(x_ptr, keep_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    keep = tl.load(keep_ptr + row * n + cols, mask=cols < n, other=0)
    x = tl.where(keep != 0, x, -3.4028234663852886e38)
    x = tl.where(cols < n, x, -float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + cols, e / tl.sum(e, axis=0), mask=cols < n)


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    keep = torch.rand(M, N, device=DEVICE) > 0.5
    keep[1] = False
    return {"inputs": {"x": x, "keep": keep, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, keep, y):
    M, N = x.shape
    softmax[(M,)](x, keep, y, N, BLOCK=triton.next_power_of_2(N))


def reference(x, keep, y):
    return {"y": torch.softmax(x.masked_fill(~keep, torch.finfo(x.dtype).min), dim=1)}
