"""Exponentials of gates, which are below one: both sides of the difference are bounded."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"M": 5, "N": 60}, {"M": 4, "N": 64}]


@triton.jit
def gates(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0)
    gate = tl.where(cols < n, 2.0 * tl.sigmoid(x), -float("inf"))
    e = tl.exp(gate - tl.max(gate, axis=0))
    tl.store(y_ptr + row * n + cols, e / tl.sum(e, axis=0), mask=cols < n)


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    M, N = x.shape
    gates[(M,)](x, y, N, BLOCK=triton.next_power_of_2(N))


def reference(x, y):
    return {"y": torch.softmax(2 * torch.sigmoid(x), dim=1)}
