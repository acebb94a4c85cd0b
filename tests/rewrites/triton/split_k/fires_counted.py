"""Whole tiles without masks, counted before the loop."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"M": 16, "N": 32, "K": 64}, {"M": 32, "N": 16, "K": 208}]


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * K + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    steps = K // BK
    for _ in range(steps):
        acc += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), input_precision="ieee")
        a_ptrs += BK
        b_ptrs += BK * N
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc)


def setup(M, N, K):
    a, b = torch.randn(M, K, device=DEVICE), torch.randn(K, N, device=DEVICE)
    return {"inputs": {"a": a, "b": b, "c": torch.empty(M, N, device=DEVICE)}, "outputs": ["c"]}


def run_kernel(a, b, c):
    (M, K), N = a.shape, b.shape[1]
    matmul[(M // 16, N // 16)](a, b, c, N, K, BM=16, BN=16, BK=16)


def reference(a, b, c):
    return {"c": a @ b}
