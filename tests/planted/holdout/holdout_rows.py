"""The holdout's Triton kernels on rows: softmax, sums, norms and a loss."""
# ruff: noqa: N803 - constexpr arguments are upper case in Triton

from __future__ import annotations

import torch
import triton
import triton.language as tl
from case import Case, Prepared
from holdout_tools import uniform


@triton.jit
def h603_energy(x, out, n, BLOCK: tl.constexpr):
    """The sum of squares of the piece of n values that belongs to the program."""
    x += tl.program_id(0) * n
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, n, BLOCK):
        v = tl.load(x + first + tl.arange(0, BLOCK))
        acc += v * v
    tl.store(out + tl.program_id(0), tl.sum(acc, axis=0))


@triton.jit
def h603_energy_b(part, out, BLOCK: tl.constexpr):
    """The sum of the parts."""
    tl.store(out, tl.sum(tl.load(part + tl.arange(0, BLOCK)), axis=0))


def energy() -> Prepared:
    """Sixteen million values."""
    n, parts = 1 << 24, 1024
    x = uniform(n, seed=11, low=-1.0)
    part, out = torch.zeros(parts, device="cuda"), torch.zeros(1, device="cuda")

    def run():
        h603_energy[(1,)](x, out, n, 4096, num_warps=8)

    def fixed():
        h603_energy[(parts,)](x, part, n // parts, 4096, num_warps=8)
        h603_energy_b[(1,)](part, out, parts, num_warps=4)

    return Prepared(
        run=run,
        outputs=lambda: [out],
        fixes={"fixed": fixed},
        reference=lambda: [(x.double() ** 2).sum().reshape(1).float()],
    )


@triton.jit
def h604_weights(x, y, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Softmax over ROWS rows of COLUMNS values."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = row[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    v = tl.load(x + at)
    e = tl.exp(v - tl.max(v, axis=1)[:, None])
    tl.store(y + at, e / tl.sum(e, axis=1)[:, None])


def weights() -> Prepared:
    """524288 rows of 64: one row per program of one warp, against 32 rows and four warps."""
    rows, columns = 524288, 64
    x = uniform(rows, columns, seed=12, low=-4.0, high=4.0)
    y = torch.zeros_like(x)

    def launch(per_program, warps):
        h604_weights[(rows // per_program,)](x, y, per_program, columns, num_warps=warps)

    return Prepared(
        run=lambda: launch(1, 1),
        outputs=lambda: [y],
        fixes={"fixed": lambda: launch(32, 4)},
        reference=lambda: [torch.softmax(x, dim=1)],
        atol=1e-5,
    )


@triton.jit
def h605_channels(x, out, columns, splits, ROWS: tl.constexpr, BC: tl.constexpr, BR: tl.constexpr):
    """Sum and sum of squares of ROWS rows for BC neighbouring channels; x is [row][channel]."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    first = tl.program_id(1) * ROWS
    total = tl.zeros((BC,), dtype=tl.float32)
    square = tl.zeros((BC,), dtype=tl.float32)
    for r in range(0, ROWS, BR):
        i = first + r + tl.arange(0, BR)
        v = tl.load(x + i[:, None] * columns + c[None, :])
        total += tl.sum(v, axis=0)
        square += tl.sum(v * v, axis=0)
    at = tl.program_id(1) * columns + c
    tl.store(out + at, total)
    tl.store(out + splits * columns + at, square)


def channels() -> Prepared:
    """131072 positions of 256 channels in 256 pieces of 512 rows."""
    rows, columns, splits = 131072, 256, 256
    x = uniform(rows, columns, seed=13, low=-1.0)
    out = torch.zeros(2, splits, columns, device="cuda")

    def launch(bc, br):
        grid = (columns // bc, splits)
        h605_channels[grid](x, out, columns, splits, rows // splits, bc, br, num_warps=4)

    def expected():
        pieces = x.view(splits, rows // splits, columns)
        return [torch.stack([pieces.sum(1), (pieces**2).sum(1)])]

    return Prepared(
        run=lambda: launch(1, 512),
        outputs=lambda: [out],
        fixes={"fixed": lambda: launch(64, 64)},
        reference=expected,
        atol=2e-3,
    )


@triton.jit
def h606_tokens(x, target, out, n, smooth, BLOCK: tl.constexpr):
    """Cross-entropy with label smoothing of one row of n logits: largest, sum, mean."""
    row = tl.program_id(0)
    x += row.to(tl.int64) * n
    at = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    for first in range(0, n, BLOCK):
        top = tl.maximum(top, tl.load(x + first + at))
    largest = tl.max(top, axis=0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, n, BLOCK):
        acc += tl.exp(tl.load(x + first + at) - largest)
    total = tl.sum(acc, axis=0)
    plain = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, n, BLOCK):
        plain += tl.load(x + first + at)
    mean = tl.sum(plain, axis=0) / n
    hit = tl.load(x + tl.load(target + row))
    tl.store(out + row, largest + tl.log(total) - (1.0 - smooth) * hit - smooth * mean)


@triton.jit
def h606_tokens_b(x, target, out, n, smooth, BLOCK: tl.constexpr):
    """The same in one pass: each lane keeps its largest and rescales its sum."""
    row = tl.program_id(0)
    x += row.to(tl.int64) * n
    at = tl.arange(0, BLOCK)
    top = tl.load(x + at)
    acc = tl.full((BLOCK,), 1.0, dtype=tl.float32)
    plain = top
    for first in range(BLOCK, n, BLOCK):
        v = tl.load(x + first + at)
        higher = tl.maximum(top, v)
        acc = acc * tl.exp(top - higher) + tl.exp(v - higher)
        top = higher
        plain += v
    largest = tl.max(top, axis=0)
    total = tl.sum(acc * tl.exp(top - largest), axis=0)
    mean = tl.sum(plain, axis=0) / n
    hit = tl.load(x + tl.load(target + row))
    tl.store(out + row, largest + tl.log(total) - (1.0 - smooth) * hit - smooth * mean)


def tokens() -> Prepared:
    """528 rows of 262144 logits."""
    rows, n = 528, 262144
    x = uniform(rows, n, seed=14, low=-4.0, high=4.0)
    target = torch.arange(rows, device="cuda", dtype=torch.int32) * 37
    out = torch.zeros(rows, device="cuda")

    def expected():
        return [
            torch.nn.functional.cross_entropy(
                x, target.long(), reduction="none", label_smoothing=0.1
            )
        ]

    return Prepared(
        run=lambda: h606_tokens[(rows,)](x, target, out, n, 0.1, 2048, num_warps=8),
        outputs=lambda: [out],
        fixes={"fixed": lambda: h606_tokens_b[(rows,)](x, target, out, n, 0.1, 2048, num_warps=8)},
        reference=expected,
    )


@triton.jit
def h608_scores(x, y, N: tl.constexpr):
    """Softmax of one row of N values."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + at)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + at, e / tl.sum(e, axis=0))


def scores() -> Prepared:
    """2048 rows of 16384: one warp per row against sixteen."""
    rows, n = 2048, 16384
    x = uniform(rows, n, seed=15, low=-4.0, high=4.0)
    y = torch.zeros_like(x)
    return Prepared(
        run=lambda: h608_scores[(rows,)](x, y, n, num_warps=1),
        outputs=lambda: [y],
        fixes={"fixed": lambda: h608_scores[(rows,)](x, y, n, num_warps=16)},
        reference=lambda: [torch.softmax(x, dim=1)],
        atol=1e-6,
    )


@triton.jit
def h631_layer(x, gain, shift, y, N: tl.constexpr):
    """Layer norm of one row, held in registers."""
    at = tl.arange(0, N)
    row = tl.program_id(0) * N
    v = tl.load(x + row + at).to(tl.float32)
    mean = tl.sum(v, axis=0) / N
    v -= mean
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / N + 1e-5)
    g = tl.load(gain + at).to(tl.float32)
    s = tl.load(shift + at).to(tl.float32)
    tl.store(y + row + at, (v * scale * g + s).to(tl.bfloat16))


def layer() -> Prepared:
    """16384 rows of 8192 in bf16."""
    rows, n = 16384, 8192
    x = uniform(rows, n, seed=16, dtype=torch.bfloat16, low=-1.0)
    gain = uniform(n, seed=17, dtype=torch.bfloat16)
    shift = uniform(n, seed=18, dtype=torch.bfloat16)
    y = torch.zeros_like(x)

    def expected():
        return [torch.nn.functional.layer_norm(x, (n,), gain, shift)]

    return Prepared(
        run=lambda: h631_layer[(rows,)](x, gain, shift, y, n, num_warps=8),
        outputs=lambda: [y],
        reference=expected,
        rtol=2e-2,
        atol=2e-2,
    )


CASES = [
    Case("h603_energy", energy),
    Case("h604_weights", weights),
    Case("h605_channels", channels),
    Case("h606_tokens", tokens),
    Case("h608_scores", scores),
    Case("h631_layer", layer),
]
