"""Planted Triton kernels over rows: softmax, norms, sums, gathers, decode attention."""

# ruff: noqa: N803, PLR0913, PLR0917 - a kernel takes what it takes; constexprs are capitals

from __future__ import annotations

import torch
import triton
import triton.language as tl
from case import Case, Prepared

MIB = 1024 * 1024


@triton.jit
def t201_rows(x, y, n, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * n
    y += row * n
    at = tl.arange(0, BLOCK)
    if WHOLE:
        v = tl.load(x + at)
        e = tl.exp(v - tl.max(v, 0))
        tl.store(y + at, e / tl.sum(e, 0))
    else:
        top = tl.full((BLOCK,), float("-inf"), tl.float32)
        for start in range(0, n, BLOCK):
            top = tl.maximum(top, tl.load(x + start + at))
        peak = tl.max(top, 0)
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, n, BLOCK):
            total += tl.exp(tl.load(x + start + at) - peak)
        scale = 1.0 / tl.sum(total, 0)
        for start in range(0, n, BLOCK):
            tl.store(y + start + at, tl.exp(tl.load(x + start + at) - peak) * scale)


def _t201() -> Prepared:
    rows, n = 4096, 32768
    x = torch.randn(rows, n, device="cuda")
    y = torch.empty_like(x)
    return Prepared(
        run=lambda: t201_rows[(rows,)](x, y, n, BLOCK=4096, WHOLE=False, num_warps=8),
        outputs=lambda: [y],
        fixes={"fixed": lambda: t201_rows[(rows,)](x, y, n, BLOCK=n, WHOLE=True, num_warps=32)},
        reference=lambda: [torch.softmax(x, 1)],
        atol=1e-6,
    )


@triton.jit
def t206_sums(x, out, n, span, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    x += row * n + part * span
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, span, BLOCK):
        total += tl.load(x + start + at)
    tl.store(out + row * tl.num_programs(1) + part, tl.sum(total, 0))


def _t206() -> Prepared:
    rows, n, parts = 16, 4 * MIB, 128
    x = torch.randn(rows, n, device="cuda")
    y = torch.empty(rows, device="cuda")
    partial = torch.empty(rows, parts, device="cuda")

    def fixed() -> None:
        t206_sums[(rows, parts)](x, partial, n, n // parts, BLOCK=4096, num_warps=8)
        t206_sums[(rows, 1)](partial, y, parts, parts, BLOCK=128, num_warps=4)

    return Prepared(
        run=lambda: t206_sums[(rows, 1)](x, y, n, n, BLOCK=4096, num_warps=8),
        outputs=lambda: [y],
        fixes={"fixed": fixed},
        reference=lambda: [x.double().sum(1).float()],
        atol=0.5,
    )


@triton.jit
def t207_rows(table, index, y, n, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    source = tl.load(index + rows).to(tl.int64)
    lane = tl.arange(0, WIDTH)
    v = tl.load(table + source[:, None] * WIDTH + lane[None, :])
    tl.store(y + rows.to(tl.int64)[:, None] * WIDTH + lane[None, :], v * 0.5)


def _t207() -> Prepared:
    rows, width, entries = 1024 * 1024, 128, 65536
    table = torch.randn(entries, width, device="cuda")
    index = torch.randint(0, entries, (rows,), device="cuda", dtype=torch.int32)
    y = torch.empty(rows, width, device="cuda")
    return Prepared(
        run=lambda: t207_rows[(rows,)](table, index, y, rows, ROWS=1, WIDTH=width, num_warps=1),
        outputs=lambda: [y],
        fixes={
            "fixed": lambda: t207_rows[(rows // 32,)](
                table, index, y, rows, ROWS=32, WIDTH=width, num_warps=8
            )
        },
        reference=lambda: [table[index.long()] * 0.5],
    )


@triton.jit
def t209_pack(x, y, scales, n, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    rows = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    at = rows[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    v = tl.load(x + at)
    c = v - (tl.sum(v, 1) / WIDTH)[:, None]
    z = c * tl.rsqrt(tl.sum(c * c, 1) / WIDTH + 1e-5)[:, None]
    top = tl.max(tl.abs(z), 1)
    tl.store(scales + rows, top / 127.0)
    tl.store(y + at, (z * (127.0 / top)[:, None]).to(tl.int8))


def _t209() -> Prepared:
    rows, width = 65536, 1024
    x = torch.randn(rows, width, device="cuda")
    y = torch.empty(rows, width, device="cuda", dtype=torch.int8)
    scales = torch.empty(rows, device="cuda")

    def reference() -> list[torch.Tensor]:
        z = torch.nn.functional.layer_norm(x, (width,))
        top = z.abs().amax(1)
        return [(z * (127.0 / top)[:, None]).to(torch.int8), top / 127.0]

    return Prepared(
        run=lambda: t209_pack[(rows,)](x, y, scales, rows, ROWS=1, WIDTH=width, num_warps=32),
        outputs=lambda: [y, scales],
        fixes={
            "fixed": lambda: t209_pack[(rows // 4,)](
                x, y, scales, rows, ROWS=4, WIDTH=width, num_warps=4
            )
        },
        reference=reference,
        atol=1.0,  # a value at a rounding edge may fall to the neighbouring integer
    )


@triton.jit
def t215_spans(x, start, length, out, BLOCK: tl.constexpr):
    item = tl.program_id(0)
    x += tl.load(start + item)
    count = tl.load(length + item)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, count, BLOCK):
        total += tl.load(x + first + at, mask=first + at < count, other=0.0)
    tl.store(out + item, tl.sum(total, 0))


def spans(long_rows: int, long: int, short_rows: int, short: int) -> tuple[torch.Tensor, ...]:
    """Start and length of ragged rows; the long ones stand last."""
    length = torch.tensor([short] * short_rows + [long] * long_rows, device="cuda")
    start = torch.cumsum(length, 0) - length
    return start, length


def _t215() -> Prepared:
    start, length = spans(32, MIB, 8192, 4096)
    chunk = 16384
    counts = (length + chunk - 1) // chunk
    first = torch.cumsum(counts, 0) - counts
    owner = torch.repeat_interleave(torch.arange(len(length), device="cuda"), counts)
    inside = (torch.arange(len(owner), device="cuda") - first[owner]) * chunk
    chunk_start = start[owner] + inside
    chunk_length = torch.clamp(length[owner] - inside, max=chunk)
    x = torch.randn(int(length.sum()), device="cuda")
    y = torch.empty(len(length), device="cuda")
    partial = torch.empty(len(owner), device="cuda")

    def fixed() -> None:
        t215_spans[(len(owner),)](x, chunk_start, chunk_length, partial, BLOCK=2048, num_warps=4)
        t215_spans[(len(length),)](partial, first, counts, y, BLOCK=64, num_warps=1)

    def reference() -> list[torch.Tensor]:
        upto = torch.cumsum(x.double(), 0)
        ends = upto[start + length - 1]
        return [torch.diff(ends, prepend=ends.new_zeros(1)).float()]

    return Prepared(
        run=lambda: t215_spans[(len(length),)](x, start, length, y, BLOCK=2048, num_warps=4),
        outputs=lambda: [y],
        fixes={"fixed": fixed},
        reference=reference,
        atol=0.2,
    )


@triton.jit
def t220_step(q, k, v, out, weights, n, span, D: tl.constexpr, BLOCK: tl.constexpr):
    head, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lane = tl.arange(0, D)
    at = tl.arange(0, BLOCK)
    query = tl.load(q + head * D + lane).to(tl.float32)
    base = head * n * D + part.to(tl.int64) * span * D
    best = float("-inf")
    total = 0.0
    acc = tl.zeros((D,), tl.float32)
    for first in range(0, span, BLOCK):
        where = base + (first + at)[:, None] * D + lane[None, :]
        score = tl.sum(tl.load(k + where).to(tl.float32) * query[None, :], 1) * 0.125
        top = tl.maximum(best, tl.max(score, 0))
        p = tl.exp(score - top)
        keep = tl.exp(best - top)
        total = total * keep + tl.sum(p, 0)
        acc = acc * keep + tl.sum(tl.load(v + where).to(tl.float32) * p[:, None], 0)
        best = top
    slot = head * tl.num_programs(1) + part
    tl.store(out + slot * D + lane, acc / total)
    tl.store(weights + slot, best + tl.log(total))


@triton.jit
def t220_join(partial, weights, out, PARTS: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    part = head * PARTS + tl.arange(0, PARTS)
    w = tl.load(weights + part)
    w = tl.exp(w - tl.max(w, 0))
    lane = tl.arange(0, D)
    values = tl.load(partial + part[:, None] * D + lane[None, :])
    tl.store(out + head * D + lane, tl.sum(values * w[:, None], 0) / tl.sum(w, 0))


def _t220() -> Prepared:
    heads, n, d, parts = 16, 32768, 64, 64
    q = torch.randn(heads, d, device="cuda", dtype=torch.bfloat16)
    k = torch.randn(heads, n, d, device="cuda", dtype=torch.bfloat16)
    v = torch.randn(heads, n, d, device="cuda", dtype=torch.bfloat16)
    y = torch.empty(heads, d, device="cuda")
    w = torch.empty(heads, parts, device="cuda")
    partial = torch.empty(heads, parts, d, device="cuda")

    def fixed() -> None:
        t220_step[(heads, parts)](q, k, v, partial, w, n, n // parts, D=d, BLOCK=128, num_warps=4)
        t220_join[(heads,)](partial, w, y, PARTS=parts, D=d, num_warps=4)

    def reference() -> list[torch.Tensor]:
        score = torch.einsum("hd,hnd->hn", q.float(), k.float()) * 0.125
        return [torch.einsum("hn,hnd->hd", torch.softmax(score, 1), v.float())]

    return Prepared(
        run=lambda: t220_step[(heads, 1)](q, k, v, y, w, n, n, D=d, BLOCK=128, num_warps=4),
        outputs=lambda: [y],
        fixes={"fixed": fixed},
        reference=reference,
        atol=2e-5,
    )


@triton.jit
def t240_rows(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at, e / tl.sum(e, 0))


def _t240() -> Prepared:
    n = 8192
    x = torch.randn(n, n, device="cuda")
    y = torch.empty_like(x)
    return Prepared(
        run=lambda: t240_rows[(n,)](x, y, n, BLOCK=n, num_warps=16),
        outputs=lambda: [y],
        reference=lambda: [torch.softmax(x, 1)],
        atol=1e-6,
    )


@triton.jit
def t241_rows(x, w, b, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at).to(tl.float32)
    c = v - tl.sum(v, 0) / n
    scale = tl.rsqrt(tl.sum(c * c, 0) / n + 1e-5)
    z = c * scale * tl.load(w + at).to(tl.float32) + tl.load(b + at).to(tl.float32)
    tl.store(y + row * n + at, z.to(tl.bfloat16))


def _t241() -> Prepared:
    rows, n = 16384, 8192
    x = torch.randn(rows, n, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(n, device="cuda", dtype=torch.bfloat16)
    y = torch.empty_like(x)
    return Prepared(
        run=lambda: t241_rows[(rows,)](x, w, b, y, n, BLOCK=n, num_warps=8),
        outputs=lambda: [y],
        reference=lambda: [torch.nn.functional.layer_norm(x, (n,), w, b)],
        rtol=2e-2,
        atol=2e-2,
    )


CASES = [
    Case("t201_rows", _t201),
    Case("t206_sums", _t206),
    Case("t207_rows", _t207),
    Case("t209_pack", _t209),
    Case("t215_spans", _t215),
    Case("t220_step", _t220),
    Case("t240_rows", _t240),
    Case("t241_rows", _t241),
]
