"""Planted Triton kernels over single elements: maps, moves, histograms, many small launches."""

# ruff: noqa: N803, PLR0913, PLR0917, SIM108 - a kernel takes what it takes; constexprs are capitals

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl
from case import Case, Prepared

MIB = 1024 * 1024
SLOTS = 4096
"""Zeroed accumulators that a counting case walks through, so that a call needs no fill kernel."""


@triton.jit
def t210_move(x, y, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    """y = x transposed; with BC 1 a warp reads down a column of x."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    v = tl.load(x + r[:, None] * cols + c[None, :])
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(v))


def _t210() -> Prepared:
    rows, cols = 8192, 8192
    x = torch.randn(rows, cols, device="cuda")
    y = torch.empty(cols, rows, device="cuda")
    return Prepared(
        run=lambda: t210_move[(rows // 1024, cols)](x, y, rows, cols, BR=1024, BC=1, num_warps=4),
        outputs=lambda: [y],
        fixes={
            "fixed": lambda: t210_move[(rows // 64, cols // 64)](
                x, y, rows, cols, BR=64, BC=64, num_warps=4
            )
        },
        reference=lambda: [x.t().contiguous()],
    )


@triton.jit
def t211_move(x, y, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    """y = x transposed; with BR 1 a warp writes down a column of y."""
    r = tl.program_id(1) * BR + tl.arange(0, BR)
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    v = tl.load(x + r[:, None] * cols + c[None, :])
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(v))


def _t211() -> Prepared:
    rows, cols = 8192, 8192
    x = torch.randn(rows, cols, device="cuda", dtype=torch.bfloat16)
    y = torch.empty(cols, rows, device="cuda", dtype=torch.bfloat16)
    return Prepared(
        run=lambda: t211_move[(cols // 1024, rows)](x, y, rows, cols, BR=1, BC=1024, num_warps=4),
        outputs=lambda: [y],
        fixes={
            "fixed": lambda: t211_move[(cols // 64, rows // 64)](
                x, y, rows, cols, BR=64, BC=64, num_warps=4
            )
        },
        reference=lambda: [x.t().contiguous()],
    )


@triton.jit
def t212_bins(x, bins, BLOCK: tl.constexpr, PRIVATE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    b = tl.load(x + at) & 7
    if PRIVATE:
        for one in tl.static_range(8):
            tl.atomic_add(bins + one, tl.sum((b == one).to(tl.int32), 0), sem="relaxed")
    else:
        tl.atomic_add(bins + b, tl.full((BLOCK,), 1, tl.int32), sem="relaxed")


def counting(launch: Callable[[torch.Tensor, bool], None], width: int) -> tuple[Callable, ...]:
    """Two launches that count into a fresh zeroed slot each, and the slot last used."""
    pool = torch.zeros(SLOTS, width, device="cuda", dtype=torch.int32)
    state = {"next": 0}

    def call(private: bool) -> None:
        state["next"] = (state["next"] + 1) % SLOTS
        launch(pool[state["next"]], private)

    return lambda: call(False), lambda: call(True), lambda: [pool[state["next"]]]


def _t212() -> Prepared:
    n = 16 * MIB
    x = torch.randint(0, 1 << 20, (n,), device="cuda", dtype=torch.int32)

    def launch(bins: torch.Tensor, private: bool) -> None:
        block = 8192 if private else 1024
        t212_bins[(n // block,)](x, bins, BLOCK=block, PRIVATE=private, num_warps=4)

    run, fixed, outputs = counting(launch, 64)
    return Prepared(
        run=run,
        outputs=lambda: [outputs()[0][:8]],
        fixes={"fixed": fixed},
        reference=lambda: [torch.bincount(x & 7, minlength=8).int()],
    )


@triton.jit
def t213_map(x, y, BLOCK: tl.constexpr, TERMS: tl.constexpr, ONCE: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at).to(tl.float32)
    acc = tl.zeros((BLOCK,), tl.float32)
    if ONCE:
        e = tl.exp2(-v)
        for term in tl.static_range(TERMS):
            acc = (acc + 1.0 / (TERMS - term)) * e
    else:
        for term in tl.static_range(TERMS):
            acc += tl.exp2(v * (-1.0 - term)) * (1.0 / (1.0 + term))
    tl.store(y + at, acc.to(tl.bfloat16))


def _t213() -> Prepared:
    n = 32 * MIB
    x = torch.rand(n, device="cuda").to(torch.bfloat16)
    y = torch.empty_like(x)

    def reference() -> list[torch.Tensor]:
        v = x.float()
        return [sum(torch.exp2(-(t + 1) * v) / (t + 1) for t in range(24)).to(torch.bfloat16)]

    def call(once: bool) -> None:
        t213_map[(n // 1024,)](x, y, BLOCK=1024, TERMS=24, ONCE=once, num_warps=4)

    return Prepared(
        run=lambda: call(False),
        outputs=lambda: [y],
        fixes={"fixed": lambda: call(True)},
        reference=reference,
        rtol=2e-2,
    )


@triton.jit
def t214_part(x, y, rows, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at, e / tl.sum(e, 0))


def _t214() -> Prepared:
    parts, rows, n = 16, 32, 1024
    x = torch.randn(parts * rows, n, device="cuda")
    y = torch.empty_like(x)
    pieces = list(zip(x.split(rows), y.split(rows), strict=True))

    def run() -> None:
        for one, target in pieces:
            t214_part[(rows,)](one, target, rows, n, BLOCK=n, num_warps=4)

    return Prepared(
        run=run,
        outputs=lambda: [y],
        fixes={"fixed": lambda: t214_part[(parts * rows,)](x, y, len(x), n, BLOCK=n, num_warps=4)},
        reference=lambda: [torch.softmax(x, 1)],
        atol=1e-6,
    )


@triton.jit
def t217_map(x, y, BLOCK: tl.constexpr, STEPS: tl.constexpr, WIDE: tl.constexpr):
    """y = x ** (-1/3) by Newton's iteration."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    if WIDE:
        w = v.to(tl.float64)
    else:
        w = v
    third = w * 0 + 1.0 / 3.0
    g = w * 0 + 0.75
    for _ in range(STEPS):
        g = g * (4.0 * third - w * third * g * g * g)
    tl.store(y + at, g.to(tl.float32))


def _t217() -> Prepared:
    n = 16 * MIB
    x = torch.rand(n, device="cuda") + 0.5
    y = torch.empty_like(x)

    def call(wide: bool) -> None:
        t217_map[(n // 1024,)](x, y, BLOCK=1024, STEPS=24, WIDE=wide, num_warps=4)

    return Prepared(
        run=lambda: call(True),
        outputs=lambda: [y],
        fixes={"fixed": lambda: call(False)},
        reference=lambda: [x.double().pow(-1 / 3).float()],
        atol=1e-5,
    )


@triton.jit
def permuted(at, d1, d2, d3, d4):
    """Source of element ``at`` of a (d0, d1, d2, d3, d4) tensor permuted to (0, 3, 2, 1, 4)."""
    inner = at % d4
    rest = at // d4
    i1 = rest % d1
    rest = rest // d1
    i2 = rest % d2
    rest = rest // d2
    i3 = rest % d3
    i0 = rest // d3
    return (((i0 * d1 + i1) * d2 + i2) * d3 + i3) * d4 + inner


@triton.jit
def t218_move(
    x, y, d1, d2, d3, d4,
    D1: tl.constexpr, D2: tl.constexpr, D3: tl.constexpr, D4: tl.constexpr,
    BLOCK: tl.constexpr, KNOWN: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KNOWN:
        source = permuted(at, D1, D2, D3, D4)
    else:
        source = permuted(
            at.to(tl.int64), d1.to(tl.int64), d2.to(tl.int64), d3.to(tl.int64), d4.to(tl.int64)
        )
    tl.store(y + at, tl.load(x + source))


def _t218() -> Prepared:
    d0, d1, d2, d3, d4 = 16, 8, 16, 64, 249
    x = torch.randn(d0, d1, d2, d3, d4, device="cuda")
    y = torch.empty(d0, d3, d2, d1, d4, device="cuda")

    def call(known: bool) -> None:
        t218_move[(x.numel() // 256,)](
            x, y, d1, d2, d3, d4, D1=d1, D2=d2, D3=d3, D4=d4, BLOCK=256, KNOWN=known, num_warps=8
        )

    return Prepared(
        run=lambda: call(False),
        outputs=lambda: [y],
        fixes={"fixed": lambda: call(True)},
        reference=lambda: [x.permute(0, 3, 2, 1, 4).contiguous()],
    )


@triton.jit(do_not_specialize=["step"])
def t221_map(x, y, step, BLOCK: tl.constexpr, UNIT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if UNIT:
        where = at
    else:
        where = at * step
    v = tl.load(x + where).to(tl.int16)
    tl.store(y + where, tl.minimum(tl.maximum(v * 3, -100), 100).to(tl.int8))


def _t221() -> Prepared:
    n = 128 * MIB
    x = torch.randint(-128, 128, (n,), device="cuda", dtype=torch.int8)
    y = torch.empty_like(x)

    def call(unit: bool) -> None:
        block = 4096 if unit else 512
        t221_map[(n // block,)](x, y, 1, BLOCK=block, UNIT=unit, num_warps=4)

    return Prepared(
        run=lambda: call(False),
        outputs=lambda: [y],
        fixes={"fixed": lambda: call(True)},
        reference=lambda: [(x.short() * 3).clamp(-100, 100).to(torch.int8)],
    )


@triton.jit
def t245_map(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at))


def _t245() -> Prepared:
    n = 128 * MIB
    x = torch.randn(n, device="cuda")
    y = torch.empty_like(x)
    return Prepared(
        run=lambda: t245_map[(n // 2048,)](x, y, BLOCK=2048, num_warps=8),
        outputs=lambda: [y],
        reference=lambda: [x],
    )


@triton.jit
def t246_map(x, y, z, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + at, tl.load(x + at) + scale * tl.load(y + at))


def _t246() -> Prepared:
    n = 64 * MIB
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    z = torch.empty_like(x)
    return Prepared(
        run=lambda: t246_map[(n // 2048,)](x, y, z, 1.5, BLOCK=2048, num_warps=8),
        outputs=lambda: [z],
        reference=lambda: [x + 1.5 * y],
    )


CASES = [
    Case("t210_move", _t210),
    Case("t211_move", _t211),
    Case("t212_bins", _t212),
    Case("t213_map", _t213),
    Case("t214_part", _t214, kernels_per_run=16),
    Case("t217_map", _t217),
    Case("t218_move", _t218),
    Case("t221_map", _t221),
    Case("t245_map", _t245),
    Case("t246_map", _t246),
]
