"""What is stored is read again by the next kernel."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"N": 100}]


@triton.jit
def square(x_ptr, t_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(t_ptr + offs, x * x, mask=offs < n)


@triton.jit
def total(t_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(y_ptr, tl.sum(tl.load(t_ptr + offs, mask=offs < n, other=0.0), axis=0))


def setup(N):
    x = torch.randn(N, device=DEVICE)
    y = torch.empty(1, device=DEVICE)
    return {"inputs": {"x": x, "t": torch.empty_like(x), "y": y}, "outputs": ["y"]}


def run_kernel(x, t, y):
    square[(triton.cdiv(x.numel(), 64),)](x, t, x.numel(), BLOCK=64)
    total[(1,)](t, y, x.numel(), BLOCK=128)


def reference(x, t, y):
    return {"y": (x * x).sum().reshape(1)}
