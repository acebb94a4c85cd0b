"""The mask is part of the mathematics."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"N": 200}, {"N": 256}]


@triton.jit
def keep_positive(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.minimum(offs, n - 1))
    tl.store(y_ptr + offs, x, mask=(x > 0) & (offs < n))


def setup(N):
    x = torch.randn(N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    y.zero_()
    keep_positive[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)


def reference(x, y):
    return {"y": torch.relu(x)}
