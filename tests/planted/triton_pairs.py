"""Planted Triton kernels with two faults each; every fault has its own switch."""

# ruff: noqa: N803, PLR0913, PLR0917, SIM108 - a kernel takes what it takes; constexprs are capitals

from __future__ import annotations

import torch
import triton
import triton.language as tl
from case import Case, Prepared
from triton_maps import MIB, counting, permuted


@triton.jit
def newton(v, STEPS: tl.constexpr, WIDE: tl.constexpr):
    """v ** (-1/3), in double precision where WIDE."""
    if WIDE:
        w = v.to(tl.float64)
    else:
        w = v
    third = w * 0 + 1.0 / 3.0
    g = w * 0 + 0.75
    for _ in range(STEPS):
        g = g * (4.0 * third - w * third * g * g * g)
    return g.to(tl.float32)


@triton.jit
def t261_move(
    x, y, d1, d2, d3, d4,
    D1: tl.constexpr, D2: tl.constexpr, D3: tl.constexpr, D4: tl.constexpr,
    BLOCK: tl.constexpr, KNOWN: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KNOWN:
        source = permuted(at, D1, D2, D3, D4)
    else:
        source = permuted(
            at.to(tl.int64), d1.to(tl.int64), d2.to(tl.int64), d3.to(tl.int64), d4.to(tl.int64)
        )
    tl.store(y + at, newton(tl.load(x + source), 8, WIDE))


def _t261() -> Prepared:
    d0, d1, d2, d3, d4 = 8, 8, 16, 64, 249
    x = torch.rand(d0, d1, d2, d3, d4, device="cuda") + 0.5
    y = torch.empty(d0, d3, d2, d1, d4, device="cuda")

    def call(known: bool, wide: bool) -> None:
        t261_move[(x.numel() // 256,)](
            x, y, d1, d2, d3, d4, D1=d1, D2=d2, D3=d3, D4=d4,
            BLOCK=256, KNOWN=known, WIDE=wide, num_warps=8,
        )  # fmt: skip

    return Prepared(
        run=lambda: call(False, True),
        outputs=lambda: [y],
        fixes={
            "fix_division_heavy": lambda: call(True, True),
            "fix_unintended_fp64": lambda: call(False, False),
            "fixed": lambda: call(True, False),
        },
        reference=lambda: [x.permute(0, 3, 2, 1, 4).double().pow(-1 / 3).float()],
    )


@triton.jit
def t262_move(x, y, rows, cols, BR: tl.constexpr, BC: tl.constexpr, WIDE: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    v = newton(tl.load(x + r[:, None] * cols + c[None, :]), 16, WIDE)
    tl.store(y + c[:, None] * rows + r[None, :], tl.trans(v))


def _t262() -> Prepared:
    rows, cols = 4096, 4096
    x = torch.rand(rows, cols, device="cuda") + 0.5
    y = torch.empty(cols, rows, device="cuda")

    def call(tiled: bool, wide: bool) -> None:
        br, bc = (64, 64) if tiled else (1024, 1)
        t262_move[(rows // br, cols // bc)](x, y, rows, cols, BR=br, BC=bc, WIDE=wide, num_warps=4)

    return Prepared(
        run=lambda: call(False, True),
        outputs=lambda: [y],
        fixes={
            "fix_uncoalesced_global_load": lambda: call(True, True),
            "fix_unintended_fp64": lambda: call(False, False),
            "fixed": lambda: call(True, False),
        },
        reference=lambda: [x.t().double().pow(-1 / 3).float()],
    )


@triton.jit
def t263_bins(x, bins, n, stride, BLOCK: tl.constexpr, APART: tl.constexpr, PRIVATE: tl.constexpr):
    pid = tl.program_id(0)
    if APART:
        at = tl.arange(0, BLOCK) * tl.num_programs(0) + pid
    else:
        at = pid * BLOCK + tl.arange(0, BLOCK)
    b = tl.load(x + at) & 7
    if PRIVATE:
        for one in tl.static_range(8):
            tl.atomic_add(bins + one, tl.sum((b == one).to(tl.int32), 0), sem="relaxed")
    else:
        tl.atomic_add(bins + b, tl.full((BLOCK,), 1, tl.int32), sem="relaxed")


def _t263() -> Prepared:
    n, block = 16 * MIB, 2048
    x = torch.randint(0, 1 << 20, (n,), device="cuda", dtype=torch.int32)

    def launch(apart: bool):
        def go(bins: torch.Tensor, private: bool) -> None:
            t263_bins[(n // block,)](
                x, bins, n, n // block, BLOCK=block, APART=apart, PRIVATE=private, num_warps=8
            )

        return go

    run, private, outputs = counting(launch(True), 64)
    near, fixed, near_outputs = counting(launch(False), 64)
    last = {"outputs": outputs}

    def remember(call, slot):
        def go() -> None:
            last["outputs"] = slot
            call()

        return go

    return Prepared(
        run=remember(run, outputs),
        outputs=lambda: [last["outputs"]()[0][:8]],
        fixes={
            "fix_atomic_contention": remember(private, outputs),
            "fix_uncoalesced_global_load": remember(near, near_outputs),
            "fixed": remember(fixed, near_outputs),
        },
        reference=lambda: [torch.bincount(x & 7, minlength=8).int()],
    )


@triton.jit
def t264_sums(x, out, n, span, BLOCK: tl.constexpr, EACH: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    x += row * n + part * span
    at = tl.arange(0, BLOCK)
    if EACH:
        sum_all = 0.0
        for start in range(0, span, BLOCK):
            v = tl.load(x + start + at)
            sum_all += tl.sum(v, 0)
    else:
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, span, BLOCK):
            total += tl.load(x + start + at)
        sum_all = tl.sum(total, 0)
    tl.store(out + row * tl.num_programs(1) + part, sum_all)


def _t264() -> Prepared:
    rows, n, parts = 32, MIB, 64
    x = torch.randn(rows, n, device="cuda")
    y = torch.empty(rows, device="cuda")
    partial = torch.empty(rows, parts, device="cuda")

    def call(split: bool, each: bool) -> None:
        if not split:
            t264_sums[(rows, 1)](x, y, n, n, BLOCK=4096, EACH=each, num_warps=32)
            return
        t264_sums[(rows, parts)](x, partial, n, n // parts, BLOCK=4096, EACH=each, num_warps=32)
        t264_sums[(rows, 1)](partial, y, parts, parts, BLOCK=64, EACH=False, num_warps=2)

    return Prepared(
        run=lambda: call(False, True),
        outputs=lambda: [y],
        fixes={
            "fix_small_grid": lambda: call(True, True),
            "fix_barrier_stall": lambda: call(False, False),
            "fixed": lambda: call(True, False),
        },
        reference=lambda: [x.double().sum(1).float()],
        atol=0.5,
    )


@triton.jit(do_not_specialize=["step"])
def t265_map(
    x, y, step, BLOCK: tl.constexpr, UNIT: tl.constexpr, TERMS: tl.constexpr, ONCE: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if UNIT:
        where = at
    else:
        where = at * step
    v = tl.load(x + where).to(tl.float32) * 0.0078125
    acc = tl.zeros((BLOCK,), tl.float32)
    if ONCE:
        e = tl.exp2(-v)
        for term in tl.static_range(TERMS):
            acc = (acc + 1.0 / (TERMS - term)) * e
    else:
        for term in tl.static_range(TERMS):
            acc += tl.exp2(v * (-1.0 - term)) * (1.0 / (1.0 + term))
    tl.store(y + where, tl.minimum(acc * 31.0, 127.0).to(tl.int8))


def _t265() -> Prepared:
    n, terms = 64 * MIB, 6
    x = torch.randint(0, 128, (n,), device="cuda", dtype=torch.int8)
    y = torch.empty_like(x)

    def call(unit: bool, once: bool) -> None:
        block = 4096 if unit else 512
        t265_map[(n // block,)](
            x, y, 1, BLOCK=block, UNIT=unit, TERMS=terms, ONCE=once, num_warps=4
        )

    def reference() -> list[torch.Tensor]:
        v = x.float() * 0.0078125
        total = sum(torch.exp2(-(t + 1) * v) / (t + 1) for t in range(terms))
        return [(total * 31).clamp(max=127).to(torch.int8)]

    return Prepared(
        run=lambda: call(False, False),
        outputs=lambda: [y],
        fixes={
            "fix_narrow_global_access": lambda: call(True, False),
            "fix_xu_pipe_saturated": lambda: call(False, True),
            "fixed": lambda: call(True, True),
        },
        reference=reference,
        atol=1.0,  # truncation to an integer may fall to the neighbour
    )


@triton.jit
def t266_part(x, y, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    base = tl.program_id(2) * rows * cols
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    v = tl.load(x + base + r[:, None] * cols + c[None, :])
    tl.store(y + base + c[:, None] * rows + r[None, :], tl.trans(v))


def _t266() -> Prepared:
    parts, rows, cols = 16, 512, 512
    x = torch.randn(parts, rows, cols, device="cuda")
    y = torch.empty(parts, cols, rows, device="cuda")
    pieces = [(x[part], y[part]) for part in range(parts)]

    def call(batched: bool, tiled: bool) -> None:
        br, bc = (32, 32) if tiled else (512, 1)
        grid = (rows // br, cols // bc, parts if batched else 1)
        for one, target in [(x, y)] if batched else pieces:
            t266_part[grid](one, target, rows, cols, BR=br, BC=bc, num_warps=4)

    return Prepared(
        run=lambda: call(False, False),
        outputs=lambda: [y],
        fixes={
            "fix_many_small_kernels": lambda: call(True, False),
            "fix_uncoalesced_global_load": lambda: call(False, True),
            "fixed": lambda: call(True, True),
        },
        reference=lambda: [x.transpose(1, 2).contiguous()],
    )


@triton.jit
def t267_rows(x, y, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, AGAIN: tl.constexpr):
    """Mean and variance of a row; AGAIN reads the row twice, WIDE sums in double precision."""
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    at = tl.arange(0, BLOCK)
    kind = tl.float64 if WIDE else tl.float32
    first = tl.zeros((BLOCK,), kind)
    second = tl.zeros((BLOCK,), kind)
    pivot = tl.load(x).to(kind)
    for start in range(0, n, BLOCK):
        v = tl.load(x + start + at).to(kind) - pivot
        first += v
        if not AGAIN:
            second += v * v
    mean = tl.sum(first, 0) / n
    if AGAIN:
        for start in range(0, n, BLOCK):
            v = tl.load(x + start + at).to(kind) - pivot - mean
            second += v * v
        variance = tl.sum(second, 0) / n
    else:
        variance = tl.sum(second, 0) / n - mean * mean
    tl.store(y + row * 2, (mean + pivot).to(tl.float32))
    tl.store(y + row * 2 + 1, variance.to(tl.float32))


def _t267() -> Prepared:
    rows, n = 2048, 131072
    x = torch.randn(rows, n, device="cuda", dtype=torch.bfloat16)
    y = torch.empty(rows, 2, device="cuda")

    def call(wide: bool, again: bool) -> None:
        t267_rows[(rows,)](x, y, n, BLOCK=4096, WIDE=wide, AGAIN=again, num_warps=8)

    def reference() -> list[torch.Tensor]:
        parts = [torch.var_mean(p.double(), dim=1, correction=0) for p in x.split(256)]
        return [torch.cat([torch.stack([m, v], 1) for v, m in parts]).float()]

    return Prepared(
        run=lambda: call(True, True),
        outputs=lambda: [y],
        fixes={
            "fix_unintended_fp64": lambda: call(False, True),
            "fix_excess_dram_traffic": lambda: call(True, False),
            "fixed": lambda: call(False, False),
        },
        reference=reference,
    )


CASES = [
    Case("t261_move", _t261),
    Case("t262_move", _t262),
    Case("t263_bins", _t263),
    Case("t264_sums", _t264),
    Case("t265_map", _t265),
    Case("t266_part", _t266, kernels_per_run=16),
    Case("t267_rows", _t267),
]
