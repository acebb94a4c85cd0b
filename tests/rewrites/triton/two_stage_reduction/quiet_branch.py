"""Only some programs add."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"N": 500}]


@triton.jit
def total(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    if tl.program_id(0) < 2:
        tl.atomic_add(y_ptr, tl.sum(x, axis=0))


def setup(N):
    x = torch.randn(N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.zeros(1, device=DEVICE)}, "outputs": ["y"]}


def run_kernel(x, y):
    y.zero_()
    total[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)


def reference(x, y):
    return {"y": x[:256].sum().reshape(1)}
