"""A condition array chooses between two values."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"N": 260}]


@triton.jit
def where_kernel(cond_ptr, x_ptr, out_ptr, value, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid * BLOCK >= n:
        return
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    cond = tl.load(cond_ptr + offs, mask=mask, other=0)
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, tl.where(cond != 0, value, x), mask=mask)


def setup(N):
    x = torch.randn(N, device=DEVICE)
    cond = torch.randint(0, 2, (N,), device=DEVICE, dtype=torch.int8)
    return {"inputs": {"x": x, "cond": cond, "out": torch.empty_like(x)}, "outputs": ["out"]}


def run_kernel(x, cond, out):
    n = x.numel()
    where_kernel[(triton.cdiv(n, 64),)](cond, x, out, -5.0, n, BLOCK=64)


def reference(x, cond, out):
    return {"out": torch.where(cond != 0, torch.full_like(x, -5.0), x)}
