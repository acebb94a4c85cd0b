"""Sum of all elements through one atomic a program."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"N": 1000}]


@triton.jit
def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))


def setup(N):
    return {
        "inputs": {"x": torch.randn(N, device=DEVICE), "out": torch.zeros(1, device=DEVICE)},
        "outputs": ["out"],
    }


def run_kernel(x, out):
    out.zero_()
    sum_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)


def reference(x, out):
    return {"out": x.sum().reshape(1)}
