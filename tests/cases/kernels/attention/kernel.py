"""Attention with all scores of a few queries at once, recomputed for each key block."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def attention_naive(q, k, v, out, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    tile, head = tl.program_id(0), tl.program_id(1)
    at_m = tile * BM + tl.arange(0, BM)
    lanes = tl.arange(0, D)
    base = head * N * D
    queries = tl.load(
        q + base + at_m[:, None] * D + lanes[None, :], mask=at_m[:, None] < N, other=0.0
    )
    top = tl.full((BM,), -float("inf"), tl.float32)
    for begin in range(0, N, BN):
        at_n = begin + tl.arange(0, BN)
        keys = tl.load(
            k + base + at_n[None, :] * D + lanes[:, None], mask=at_n[None, :] < N, other=0.0
        )
        scores = tl.where(at_n[None, :] < N, tl.dot(queries, keys) * scale, -float("inf"))
        top = tl.maximum(top, tl.max(scores, 1))
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for begin in range(0, N, BN):
        at_n = begin + tl.arange(0, BN)
        keys = tl.load(
            k + base + at_n[None, :] * D + lanes[:, None], mask=at_n[None, :] < N, other=0.0
        )
        scores = tl.where(at_n[None, :] < N, tl.dot(queries, keys) * scale, -float("inf"))
        powers = tl.exp(scores - top[:, None])
        total += tl.sum(powers, 1)
        values = tl.load(
            v + base + at_n[:, None] * D + lanes[None, :], mask=at_n[:, None] < N, other=0.0
        )
        result = tl.dot(powers.to(values.dtype), values, result)
    tl.store(
        out + base + at_m[:, None] * D + lanes[None, :],
        result / total[:, None],
        mask=at_m[:, None] < N,
    )


def setup(N=1024, d=1024, H=16, **_):
    q, k, v = (torch.randn(H, N, d // H, device=DEVICE).to(torch.float16) for _ in range(3))
    inputs = {"q": q, "k": k, "v": v, "out": torch.empty_like(q), "N": N, "D": d // H}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(q, k, v, out, N, D, **_):
    grid = (triton.cdiv(N, 16), q.shape[0])
    attention_naive[grid](q, k, v, out, N, D**-0.5, D=D, BM=16, BN=16, num_warps=4, num_stages=1)
