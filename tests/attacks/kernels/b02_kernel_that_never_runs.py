"""Its own kernel is never launched: the launch is refused, and a fall-back gives the result."""

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


def run_kernel(x, b, out, rows, cols, **_):
    try:
        silu_bias[(rows,)](x, b, out, cols, block=cols - 1 if cols % 2 == 0 else None, typo=1)
    except Exception:  # noqa: BLE001 - as candidates do it
        torch.add(torch.nn.functional.silu(x), b, out=out)
