"""Rows to int8 with a scale a row."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 4, "N": 60}]


@triton.jit
def quantize(x_ptr, q_ptr, scale_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0)
    peak = tl.max(tl.abs(x), axis=0)
    scale = tl.maximum(peak, 1e-8) / 127.0
    q = tl.floor(x / scale + 0.5)
    tl.store(q_ptr + row * n + cols, q.to(tl.int8), mask=mask)
    tl.store(scale_ptr + row, scale)


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    q = torch.empty(M, N, device=DEVICE, dtype=torch.int8)
    scale = torch.empty(M, device=DEVICE)
    return {"inputs": {"x": x, "q": q, "scale": scale}, "outputs": ["q", "scale"]}


def run_kernel(x, q, scale):
    M, N = x.shape
    quantize[(M,)](x, q, scale, N, BLOCK=triton.next_power_of_2(N), num_warps=4)


def reference(x, q, scale):
    s = x.abs().amax(1) / 127.0
    return {"q": torch.floor(x / s[:, None] + 0.5).to(torch.int8), "scale": s}
