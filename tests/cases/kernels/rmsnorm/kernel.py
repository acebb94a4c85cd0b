"""RMS normalization in two passes over each row."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def rmsnorm_naive(x, weight, out, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    square = tl.zeros((BLOCK,), tl.float32)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        value = tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
        square += value * value
    scale = 1.0 / tl.sqrt(tl.sum(square, 0) / N + eps)
    for begin in range(0, N, BLOCK):
        at = begin + lanes
        value = tl.load(x + row * N + at, mask=at < N, other=0.0).to(tl.float32)
        factor = tl.load(weight + at, mask=at < N, other=0.0).to(tl.float32)
        tl.store(out + row * N + at, value * scale * factor, mask=at < N)


def setup(M=4096, N=8192, **_):
    x = torch.randn(M, N, device=DEVICE).to(torch.bfloat16)
    weight = torch.randn(N, device=DEVICE).to(torch.bfloat16)
    inputs = {"x": x, "weight": weight, "out": torch.empty_like(x), "M": M, "N": N}
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(x, weight, out, M, N, **_):
    rmsnorm_naive[(M,)](x, weight, out, N, 1e-6, BLOCK=512, num_warps=4)
