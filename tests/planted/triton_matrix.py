"""Planted Triton matrix products, and the vendor's as healthy neighbours."""

# ruff: noqa: N803, PLR0913, PLR0917 - a kernel takes what it takes; constexprs are capitals

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from case import Case, Prepared


@triton.jit
def tile_of(pid, nm, nn, GROUP: tl.constexpr):
    """Tile of a program: in groups of GROUP rows, or, for GROUP 0, along the diagonals."""
    if GROUP == 0:
        pm = pid % nm
        pn = (pid // nm + pid) % nn
    else:
        width = GROUP * nn
        first = pid // width * GROUP
        size = min(nm - first, GROUP)
        pm = first + pid % width % size
        pn = pid % width // size
    return pm, pn


@triton.jit
def product(
    a, b, m, n, k, first, span, pm, pn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    """One tile of a @ b over ``span`` of the inner dimension; MODE picks the arithmetic."""
    rm = (pm * BM + tl.arange(0, BM)).to(tl.int64)
    rn = pn * BN + tl.arange(0, BN)
    rk = first + tl.arange(0, BK)
    pa = a + rm[:, None] * k + rk[None, :]
    pb = b + rk.to(tl.int64)[:, None] * n + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, span, BK):
        ta = tl.load(pa)
        tb = tl.load(pb)
        if MODE == 0:
            acc = tl.dot(ta, tb, acc)
        else:
            acc = tl.dot(ta.to(tl.float32), tb.to(tl.float32), acc, input_precision="ieee")
        pa += BK
        pb += BK * n
    return acc


@triton.jit
def save(c, acc, n, pm, pn, BM: tl.constexpr, BN: tl.constexpr):
    rm = (pm * BM + tl.arange(0, BM)).to(tl.int64)
    rn = pn * BN + tl.arange(0, BN)
    tl.store(c + rm[:, None] * n + rn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def t202_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t203_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t204_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t205_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t208_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t219_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t244_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t260_gemm(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    save(c, product(a, b, m, n, k, 0, k, pm, pn, BM, BN, BK, MODE), n, pm, pn, BM, BN)


@triton.jit
def t216_gemm(
    a, b, c, m, n, k, span,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, MODE: tl.constexpr,
):  # fmt: skip
    part = tl.program_id(1)
    pm, pn = tile_of(tl.program_id(0), m // BM, n // BN, GROUP)
    acc = product(a, b, m, n, k, part * span, span, pm, pn, BM, BN, BK, MODE)
    save(c + part.to(tl.int64) * m * n, acc, n, pm, pn, BM, BN)


@triton.jit
def t216_join(partial, c, size, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(partial + part * size + at)
    tl.store(c + at, total.to(c.dtype.element_ty))


Tile = tuple[int, int, int, int, int, int]
"""Rows, columns, depth, group (0 = diagonal order), warps, stages."""
TUNED: Tile = (128, 256, 64, 8, 8, 3)


def launcher(kernel: Any, a: Any, b: Any, c: Any, tile: Tile, mode: int = 0) -> Callable[[], Any]:
    """A call of one product kernel with the tile given."""
    (m, k), n = a.shape, b.shape[1]
    bm, bn, bk, group, warps, stages = tile
    grid = ((m // bm) * (n // bn),)
    return lambda: kernel[grid](
        a, b, c, m, n, k,
        BM=bm, BN=bn, BK=bk, GROUP=group, MODE=mode, num_warps=warps, num_stages=stages,
    )  # fmt: skip


def operands(m: int, n: int, k: int, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Two random factors and an empty product."""
    a = torch.randn(m, k, device="cuda", dtype=dtype)
    b = torch.randn(k, n, device="cuda", dtype=dtype)
    return a, b, torch.empty(m, n, device="cuda", dtype=dtype)


def exact(a: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    """The product with fp32 arithmetic, rounded to the operands' type."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    if a.dtype == torch.float32:
        result = torch.matmul(a, b)
    else:  # in blocks of rows: an fp32 copy of everything would be large
        result = torch.cat([(rows.float() @ b.float()).to(a.dtype) for rows in a.split(2048)])
    torch.backends.cuda.matmul.allow_tf32 = before
    return [result]


def planted(
    kernel: Any, shape: tuple[int, int, int], dtype: torch.dtype, faulty: Tile, **how: Any
) -> Callable[[], Prepared]:
    """A case of one product kernel; ``how``: mode, fixes (tile and mode by name), tolerance."""

    def prepare() -> Prepared:
        a, b, c = operands(*shape, dtype)
        fixes = {
            name: launcher(kernel, a, b, c, tile, mode)
            for name, (tile, mode) in how.get("fixes", {}).items()
        }
        scale = shape[2] ** 0.5
        return Prepared(
            run=launcher(kernel, a, b, c, faulty, how.get("mode", 0)),
            outputs=lambda: [c],
            fixes=fixes,
            reference=lambda: exact(a, b),
            rtol=how.get("rtol", 1e-2),
            atol=how.get("atol", 2e-3) * scale,
        )

    return prepare


def _t204() -> Prepared:
    a, b, c = operands(4096, 4096, 2048, torch.float32)
    return Prepared(
        run=launcher(t204_gemm, a, b, c, (64, 64, 32, 8, 4, 3), mode=1),
        outputs=lambda: [c],
        fixes={"fixed": launcher(t204_gemm, a, b, c, (128, 128, 32, 8, 8, 4), mode=0)},
        reference=lambda: exact(a, b),
        rtol=1e-2,
        atol=0.2,  # TF32 keeps 10 bits: about 1e-3 of a sum of 2048 products
    )


def _t216() -> Prepared:
    m, n, k, parts = 1536, 3072, 16384, 4
    a, b, c = operands(m, n, k, torch.bfloat16)
    partial = torch.empty(parts, m, n, device="cuda")
    tiles = (m // 128) * (n // 256)

    def call(target: torch.Tensor, split: int) -> None:
        t216_gemm[(tiles, split)](
            a, b, target, m, n, k, k // split,
            BM=128, BN=256, BK=64, GROUP=8, MODE=0, num_warps=8, num_stages=3,
        )  # fmt: skip

    def fixed() -> None:
        call(partial, parts)
        t216_join[(m * n // 4096,)](partial, c, m * n, PARTS=parts, BLOCK=4096, num_warps=8)

    return Prepared(
        run=lambda: call(c, 1),
        outputs=lambda: [c],
        fixes={"fixed": fixed},
        reference=lambda: exact(a, b),
        rtol=1e-2,
        atol=0.3,
    )


def _vendor(size: int, dtype: torch.dtype) -> Callable[[], Prepared]:
    def prepare() -> Prepared:
        torch.backends.cuda.matmul.allow_tf32 = False
        a, b, c = operands(size, size, size, dtype)
        return Prepared(
            run=lambda: torch.matmul(a, b, out=c),
            outputs=lambda: [c],
            reference=lambda: exact(a, b),
            rtol=1e-2,
            atol=0.3,
        )

    return prepare


BF16, FP16 = torch.bfloat16, torch.float16
LARGE = (16384, 16384, 2048)
GOOD = (TUNED, 0)

CASES = [
    Case(
        "t202_gemm",
        planted(t202_gemm, (4096, 4096, 2048), BF16, (32, 32, 32, 8, 4, 1), fixes={"fixed": GOOD}),
    ),
    Case(
        "t203_gemm",
        planted(
            t203_gemm,
            (2048, 2048, 2048),
            FP16,
            (64, 64, 32, 8, 4, 3),
            mode=1,
            fixes={"fixed": ((128, 128, 64, 8, 8, 4), 0)},
        ),
    ),
    Case("t204_gemm", _t204),
    Case(
        "t205_gemm",
        planted(
            t205_gemm,
            LARGE,
            BF16,
            (128, 128, 64, 0, 8, 4),
            fixes={"fixed": ((128, 128, 64, 8, 8, 4), 0)},
        ),
    ),
    Case(
        "t208_gemm",
        planted(
            t208_gemm, (4096, 4096, 2048), FP16, (256, 256, 32, 8, 4, 3), fixes={"fixed": GOOD}
        ),
    ),
    Case("t216_gemm", _t216),
    Case(
        "t219_gemm",
        planted(
            t219_gemm, (4096, 4096, 4096), FP16, (128, 256, 64, 8, 8, 1), fixes={"fixed": GOOD}
        ),
    ),
    Case("t242_gemm", _vendor(8192, BF16)),
    Case("t243_gemm", _vendor(4096, torch.float32)),
    Case("t244_gemm", planted(t244_gemm, (8192, 8192, 4096), BF16, TUNED)),
    Case(
        "t260_gemm",
        planted(
            t260_gemm,
            LARGE,
            BF16,
            (128, 128, 64, 0, 8, 1),
            fixes={
                "fix_tensor_pipe_underfed": ((128, 128, 64, 0, 8, 4), 0),
                "fix_low_l2_hit_rate": ((128, 128, 64, 8, 8, 1), 0),
                "fixed": ((128, 128, 64, 8, 8, 4), 0),
            },
        ),
    ),
]
