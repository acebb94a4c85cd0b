"""Layer normalization in three passes over each row."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def layernorm_naive(x, weight, bias, out, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        total += tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / N
    square = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        value = tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
        apart = tl.where(at < N, value - mean, 0.0)
        square += apart * apart
    scale = 1.0 / tl.sqrt(tl.sum(square, 0) / N + eps)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        value = tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
        factor = tl.load(weight + at, mask=at < N, other=0.0).to(tl.float32)
        shift = tl.load(bias + at, mask=at < N, other=0.0).to(tl.float32)
        tl.store(out + row * N + at, (value - mean) * scale * factor + shift, mask=at < N)


def setup(M=4096, N=8192, **_):
    x = torch.randn(M, N, device=DEVICE).to(torch.bfloat16)
    weight, bias = (torch.randn(N, device=DEVICE).to(torch.bfloat16) for _ in range(2))
    inputs = {"x": x, "weight": weight, "bias": bias, "out": torch.empty_like(x), "M": M, "N": N}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(x, weight, bias, out, M, N, **_):
    layernorm_naive[(M,)](x, weight, bias, out, N, 1e-5, BLOCK=512, num_warps=4)
