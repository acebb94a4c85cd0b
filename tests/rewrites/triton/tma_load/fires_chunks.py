"""Some tiles of the inner dimension a launch; the host moves on where they begin."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DIMS = [{"M": 16, "N": 32, "K": 128}, {"M": 16, "N": 16, "K": 200}]


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, K, N, first, last, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a_ptrs = a_ptr + rm[:, None] * K + rk[None, :]
    b_ptrs = b_ptr + rk[:, None] * N + rn[None, :]
    c_ptrs = c_ptr + rm[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(first, last):
        a = tl.load(a_ptrs, mask=rk[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=rk[:, None] < K - k * BK, other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        a_ptrs += BK
        b_ptrs += BK * N
    tl.store(c_ptrs, tl.load(c_ptrs) + acc)


def setup(M, N, K):
    a, b = torch.randn(M, K, device=DEVICE), torch.randn(K, N, device=DEVICE)
    return {"inputs": {"a": a, "b": b, "c": torch.empty(M, N, device=DEVICE)}, "outputs": ["c"]}


def run_kernel(a, b, c):
    (M, K), N = a.shape, b.shape[1]
    tiles = triton.cdiv(K, 16)
    c.zero_()
    for first in range(0, tiles, 4):
        rows, columns = a[:, first * 16 :], b[first * 16 :]
        last = min(first + 4, tiles)
        matmul[(M // 16, N // 16)](rows, columns, c, K, N, first, last, BM=16, BN=16, BK=16)


def reference(a, b, c):
    return {"c": a @ b}
