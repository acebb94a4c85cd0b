"""Unrolled in full already."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"N": 200}, {"N": 256}]


@triton.jit
def smooth(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for t in tl.static_range(3):
        place = tl.minimum(offs + t, n - 1)
        acc += tl.load(x_ptr + place)
    tl.store(y_ptr + offs, acc, mask=offs < n)


def setup(N):
    x = torch.randn(N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    smooth[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)


def reference(x, y):
    return {"y": x + x[(torch.arange(x.numel()) + 1).clamp(max=x.numel() - 1)] + x[(torch.arange(x.numel()) + 2).clamp(max=x.numel() - 1)]}
