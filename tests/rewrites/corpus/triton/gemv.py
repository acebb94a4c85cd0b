"""Matrix times vector, a row a program."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 6, "N": 100}]


@triton.jit
def gemv_kernel(a_ptr, x_ptr, y_ptr, n, stride_a, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK_N], dtype=tl.float32)
    for start in range(0, n, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        mask = cols < n
        a = tl.load(a_ptr + row * stride_a + cols, mask=mask, other=0.0)
        x = tl.load(x_ptr + cols, mask=mask, other=0.0)
        acc += a * x
    tl.store(y_ptr + row, tl.sum(acc, axis=0))


def setup(M, N):
    a, x = torch.randn(M, N, device=DEVICE), torch.randn(N, device=DEVICE)
    return {"inputs": {"a": a, "x": x, "y": torch.empty(M, device=DEVICE)}, "outputs": ["y"]}


def run_kernel(a, x, y):
    gemv_kernel[(a.shape[0],)](a, x, y, a.shape[1], a.stride(0), BLOCK_N=32)


def reference(a, x, y):
    return {"y": a @ x}
