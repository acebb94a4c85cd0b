"""The holdout's Triton kernels that map elements: a window mask and a gated activation."""
# ruff: noqa: N803 - constexpr arguments are upper case in Triton

from __future__ import annotations

import torch
import triton
import triton.language as tl
from case import Case, Prepared
from holdout_tools import uniform


@triton.jit(do_not_specialize=["columns", "width", "turns"])
def h607_window(x, y, columns, width, turns, BLOCK: tl.constexpr):
    """Keeps a score where its row and column lie in windows of the same turn; else zero."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row = i // columns
    column = i % columns
    keep = (row // width) % turns == (column // width) % turns
    tl.store(y + i, tl.where(keep, tl.load(x + i), 0.0))


@triton.jit
def h607_window_b(x, y, columns, WIDTH: tl.constexpr, TURNS: tl.constexpr, BLOCK: tl.constexpr):
    """The same with the row as a grid coordinate and powers of two known to the compiler."""
    row = tl.program_id(1)
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = (row // WIDTH) % TURNS == (column // WIDTH) % TURNS
    at = row * columns + column
    tl.store(y + at, tl.where(keep, tl.load(x + at), 0.0))


def window() -> Prepared:
    """8192 x 4096 scores, windows of 64, eight turns."""
    rows, columns, width, turns = 8192, 4096, 64, 8
    x = uniform(rows, columns, seed=21, low=-1.0)
    y = torch.zeros_like(x)

    def run():
        h607_window[(x.numel() // 1024,)](x, y, columns, width, turns, 1024, num_warps=4)

    def fixed():
        h607_window_b[(columns // 1024, rows)](x, y, columns, width, turns, 1024, num_warps=4)

    def expected():
        i = torch.arange(rows, device="cuda")[:, None] // width % turns
        j = torch.arange(columns, device="cuda")[None, :] // width % turns
        return [torch.where(i == j, x, torch.zeros_like(x))]

    return Prepared(
        run=run,
        outputs=lambda: [y],
        fixes={"fixed": fixed},
        reference=expected,
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


CASES = [Case("h607_window", window), Case("h610_experts", experts, kernels_per_run=32)]
