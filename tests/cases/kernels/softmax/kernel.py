"""Softmax in three passes over each row, in small blocks."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def softmax_naive(x, out, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        top = tl.maximum(top, tl.load(x + row * N + at, mask=at < N, other=-float("inf")))
    peak = tl.max(top, 0)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        total += tl.exp(tl.load(x + row * N + at, mask=at < N, other=-float("inf")) - peak)
    scale = 1.0 / tl.sum(total, 0)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        value = tl.exp(tl.load(x + row * N + at, mask=at < N, other=0.0) - peak)
        tl.store(out + row * N + at, value * scale, mask=at < N)


def setup(M=1024, N=1024, **_):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "out": torch.empty_like(x), "M": M, "N": N}, "outputs": ["out"]}


def run_kernel(x, out, M, N, **_):
    softmax_naive[(M,)](x, out, N, BLOCK=128, num_warps=4)
