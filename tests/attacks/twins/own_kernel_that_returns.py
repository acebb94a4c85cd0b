"""Its own kernel, whose result it returns."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_bias(x_ptr, b_ptr, out_ptr, cols, block: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, block)
    mask = offsets < cols
    x = tl.load(x_ptr + row * cols + offsets, mask=mask)
    b = tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + row * cols + offsets, x / (1.0 + tl.exp(-x)) + b, mask=mask)


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, rows, cols, **_):
    out = torch.empty_like(x)
    silu_bias[(rows,)](x, b, out, cols, block=triton.next_power_of_2(cols))
    return out
