"""Layer norm over rows: one program per row, three passes in small blocks."""

import torch
import triton
import triton.language as tl

BLOCK = 256  # kbs:tunable 256, 512, 1024, 2048
WARPS = 1  # kbs:tunable 1, 2, 4, 8


@triton.jit
def _norm(x, weight, bias, out, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / N
    spread = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
        v = tl.where(cols < N, v - mean, 0.0)
        spread += v * v
    scale = 1.0 / tl.sqrt(tl.sum(spread, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < N
        v = tl.load(x + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(weight + cols, mask=mask, other=0.0).to(tl.float32)
        b = tl.load(bias + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(out + row * N + cols, ((v - mean) * scale * w + b).to(tl.bfloat16), mask=mask)


def setup(M=4096, N=8192, **_):
    x = torch.randn(M, N, dtype=torch.bfloat16)
    weight, bias = torch.randn(N, dtype=torch.bfloat16), torch.randn(N, dtype=torch.bfloat16)
    out = torch.empty_like(x)
    return {
        "inputs": {"x": x, "weight": weight, "bias": bias, "out": out, "M": M, "N": N},
        "outputs": ["out"],
    }


def run_kernel(x, weight, bias, out, M, N, **_):
    _norm[(M,)](x, weight, bias, out, N, 1e-5, BLOCK=BLOCK, num_warps=WARPS)
