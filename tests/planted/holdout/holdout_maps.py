"""The holdout's Triton kernels that map elements: a permutation and a gated activation."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from case import Case, Prepared
from holdout_tools import uniform


@triton.jit
def h607_heads(x, y, tokens, heads, width, BLOCK: tl.constexpr):
    """[batch][token][head][width] -> [batch][head][token][width], from the flat index of y."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    d = i % width
    rest = i // width
    t = rest % tokens
    rest = rest // tokens
    h = rest % heads
    b = rest // heads
    tl.store(y + i, tl.load(x + ((b * tokens + t) * heads + h) * width + d))


@triton.jit
def h607_heads_b(x, y, tokens, heads, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """The same, with the indices as grid coordinates."""
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    h = tl.program_id(1)
    b = tl.program_id(2)
    d = tl.arange(0, WIDTH)
    v = tl.load(x + ((b * tokens + t) * heads + h)[:, None] * WIDTH + d[None, :])
    tl.store(y + ((b * heads + h) * tokens + t)[:, None] * WIDTH + d[None, :], v)


def heads() -> Prepared:
    """Eight batches of 2048 tokens, 16 heads of 128."""
    b, t, h, d = 8, 2048, 16, 128
    x = uniform(b, t, h, d, seed=21, low=-1.0)
    y = torch.zeros(b, h, t, d, device="cuda")

    def run():
        h607_heads[(x.numel() // 1024,)](x, y, t, h, d, 1024, num_warps=4)

    def fixed():
        h607_heads_b[(t // 16, h, b)](x, y, t, h, d, 16, num_warps=4)

    return Prepared(
        run=run,
        outputs=lambda: [y],
        fixes={"fixed": fixed},
        reference=lambda: [x.permute(0, 2, 1, 3)],
        rtol=0.0,
        atol=0.0,
    )


@triton.jit
def h610_experts(x, gain, y, n, BLOCK: tl.constexpr):
    """silu(x) times the expert's gain; the second grid axis counts experts."""
    e = tl.program_id(1)
    at = e * n + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(y + at, v * tl.sigmoid(v) * tl.load(gain + e))


def experts() -> Prepared:
    """32 experts with 135168 values each."""
    count, n = 32, 132 * 1024
    x = uniform(count, n, seed=22, low=-4.0, high=4.0)
    gain = uniform(count, 4, seed=23, low=0.5, high=2.0)[:, 0].contiguous()
    y = torch.zeros_like(x)
    padded = gain[:, None].expand(count, 4).contiguous()  # one gain per 16 bytes, for slices
    slices = [(x[e], padded[e], y[e]) for e in range(count)]

    def run():
        for one in slices:
            h610_experts[(n // 1024, 1)](*one, n, 1024, num_warps=4)

    def fixed():
        h610_experts[(n // 1024, count)](x, gain, y, n, 1024, num_warps=4)

    return Prepared(
        run=run,
        outputs=lambda: [y],
        fixes={"fixed": fixed},
        reference=lambda: [torch.nn.functional.silu(x) * gain[:, None]],
    )


CASES = [Case("h607_heads", heads), Case("h610_experts", experts, kernels_per_run=32)]
