"""The holdout's Triton kernels on matrices."""
# ruff: noqa: N803, PLR0913, PLR0917 - constexpr arguments are upper case; kernels take what they need

from __future__ import annotations

import torch
import triton
import triton.language as tl
from case import Case, Prepared
from holdout_tools import uniform


@triton.jit
def _product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One BM x BN tile of c = a b, tiles in groups of eight rows; sizes divide."""
    columns = n // BN
    pid = tl.program_id(0)
    group = pid // (8 * columns)
    row = group * 8 + pid % 8
    column = pid % (8 * columns) // 8
    im = row * BM + tl.arange(0, BM)
    jn = column * BN + tl.arange(0, BN)
    kk = tl.arange(0, BK)
    pa = a + im[:, None] * k + kk[None, :]
    pb = b + kk[:, None] * n + jn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, k, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * n
    tl.store(c + im[:, None] * n + jn[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def h601_dense(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A layer's product in fp16."""
    _product(a, b, c, m, n, k, BM, BN, BK)


@triton.jit
def h602_linear(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A layer's product in bf16."""
    _product(a, b, c, m, n, k, BM, BN, BK)


def _gemm(kernel, dtype, side, faulty, fixed):
    """Bind ``kernel`` to side x side matrices; a setting is (BM, BN, BK, num_warps, num_stages)."""
    a = uniform(side, side, seed=1, dtype=dtype, low=-1.0)
    b = uniform(side, side, seed=2, dtype=dtype, low=-1.0)
    c = torch.zeros(side, side, device="cuda", dtype=dtype)

    def launch(bm, bn, bk, warps, stages):
        grid = (side // bm * (side // bn),)
        kernel[grid](a, b, c, side, side, side, bm, bn, bk, num_warps=warps, num_stages=stages)

    return Prepared(
        run=lambda: launch(*faulty),
        outputs=lambda: [c],
        fixes={"fixed": lambda: launch(*fixed)},
        reference=lambda: [a @ b],
        rtol=2e-2,
        atol=1e-1 if dtype == torch.float16 else 6e-1,
    )


def dense() -> Prepared:
    """16 x 16 tiles against 128 x 128."""
    return _gemm(h601_dense, torch.float16, 4096, (16, 16, 64, 4, 3), (128, 128, 64, 4, 3))


def linear() -> Prepared:
    """One stage against three."""
    return _gemm(h602_linear, torch.bfloat16, 4096, (128, 256, 64, 8, 1), (128, 256, 64, 8, 3))


@triton.jit
def h609_pairs(q, k, out, n, D: tl.constexpr, B: tl.constexpr, BK: tl.constexpr, HOW: tl.constexpr):
    """Scores of all pairs of rows of q and k."""
    head = tl.program_id(2)
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    q += head * n * D
    k += head * n * D
    acc = tl.zeros((B, B), dtype=tl.float32)
    for d in range(0, D, BK):
        s = d + tl.arange(0, BK)
        x = tl.load(q + i[:, None] * D + s[None, :])
        y = tl.load(k + j[None, :] * D + s[:, None])
        acc = tl.dot(x, y, acc, input_precision=HOW)
    tl.store(out + head * n * n + i[:, None] * n + j[None, :], acc)


def pairs() -> Prepared:
    """16 heads of 1024 rows of 256 in fp32, where TF32 products are accurate enough."""
    heads, n, width = 16, 1024, 256
    q = uniform(heads, n, width, seed=3, low=-1.0)
    k = uniform(heads, n, width, seed=4, low=-1.0)
    out = torch.zeros(heads, n, n, device="cuda")

    def launch(how):
        grid = (n // 64, n // 64, heads)
        h609_pairs[grid](q, k, out, n, width, 64, 32, how, num_warps=4, num_stages=3)

    return Prepared(
        run=lambda: launch("ieee"),
        outputs=lambda: [out],
        fixes={"fixed": lambda: launch("tf32")},
        reference=lambda: [(q.double() @ k.double().transpose(1, 2)).float()],
        rtol=1e-2,
        atol=3e-2,
    )


def matmul() -> Prepared:
    """The vendor library's bf16 product, 16384 x 8192 by 8192 x 4096."""
    a = uniform(16384, 8192, seed=5, dtype=torch.bfloat16, low=-1.0)
    b = uniform(8192, 4096, seed=6, dtype=torch.bfloat16, low=-1.0)
    c = torch.zeros(16384, 4096, device="cuda", dtype=torch.bfloat16)
    return Prepared(
        run=lambda: torch.matmul(a, b, out=c),
        outputs=lambda: [c],
        reference=lambda: [a.float() @ b.float()],
        rtol=2e-2,
        atol=6e-1,
    )


CASES = [
    Case("h601_dense", dense),
    Case("h602_linear", linear),
    Case("h609_pairs", pairs),
    Case("h632_matmul", matmul),
]
