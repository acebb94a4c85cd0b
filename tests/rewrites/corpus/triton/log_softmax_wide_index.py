"""Log-softmax with 64-bit row offsets."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 3, "N": 33}]


@triton.jit
def log_softmax_kernel(inp, out, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(inp + row * n_cols + cols, mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    log_sum = tl.log(tl.sum(tl.exp(x), axis=0))
    tl.store(out + row * n_cols + cols, x - log_sum, mask)


def setup(M, N):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "y": torch.empty_like(x)}, "outputs": ["y"]}


def run_kernel(x, y):
    log_softmax_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=64)


def reference(x, y):
    return {"y": torch.log_softmax(x, dim=1)}
