"""Bias and activation over 2-D tiles."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 20, "N": 40}, {"M": 16, "N": 32}]


@triton.jit
def bias_relu(x_ptr, b_ptr, y_ptr, M, N, sx, sy, BM: tl.constexpr = 16, BN: tl.constexpr = 32):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rows = pid_m * BM + tl.arange(0, BM)
    cols = pid_n * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    x = tl.load(x_ptr + rows[:, None] * sx + cols[None, :], mask=mask, other=0.0)
    b = tl.load(b_ptr + cols, mask=cols < N, other=0.0)
    y = x + b[None, :]
    tl.store(y_ptr + rows[:, None] * sy + cols[None, :], tl.where(y > 0, y, 0.0), mask=mask)


def setup(M, N):
    x, b = torch.randn(M, N, device=DEVICE), torch.randn(N, device=DEVICE)
    return {"inputs": {"x": x, "b": b, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, b, y):
    M, N = x.shape
    bias_relu[(triton.cdiv(M, 16), triton.cdiv(N, 32))](x, b, y, M, N, x.stride(0), y.stride(0))


def reference(x, b, y):
    return {"y": torch.relu(x + b)}
