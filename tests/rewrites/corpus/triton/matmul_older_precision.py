"""Skinny matrix product with allow_tf32=False."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 16, "N": 16, "K": 256}]


@triton.jit
def skinny(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    pm = tl.program_id(axis=0)
    pn = tl.program_id(axis=1)
    rm = pm * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pn * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc += tl.dot(x, y, allow_tf32=False)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty))


def setup(M, N, K):
    a, b = torch.randn(M, K, device=DEVICE), torch.randn(K, N, device=DEVICE)
    return {"inputs": {"a": a, "b": b, "c": torch.empty(M, N, device=DEVICE)}, "outputs": ["c"]}


def run_kernel(a, b, c):
    (M, K), N = a.shape, b.shape[1]
    skinny[(M // 16, N // 16)](a, b, c, M, N, K, BLOCK_M=16, BLOCK_N=16, BLOCK_K=32, num_stages=1)


def reference(a, b, c):
    return {"c": a @ b}
