"""GEMM in small tiles, in the order of the rows."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@triton.jit
def gemm_naive(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    at_m = tl.program_id(0) * BM + tl.arange(0, BM)
    at_n = tl.program_id(1) * BN + tl.arange(0, BN)
    lanes = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, K, BK):
        at_k = begin + lanes
        left = tl.load(
            a + at_m[:, None] * K + at_k[None, :],
            mask=(at_m[:, None] < M) & (at_k[None, :] < K),
            other=0.0,
        )
        right = tl.load(
            b + at_k[:, None] * N + at_n[None, :],
            mask=(at_k[:, None] < K) & (at_n[None, :] < N),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    tl.store(
        out + at_m[:, None] * N + at_n[None, :],
        total,
        mask=(at_m[:, None] < M) & (at_n[None, :] < N),
    )


def setup(M=1024, N=1024, K=1024, **_):
    a = torch.randn(M, K, device=DEVICE).to(torch.float16)
    b = torch.randn(K, N, device=DEVICE).to(torch.float16)
    inputs = {
        "a": a,
        "b": b,
        "out": torch.empty(M, N, dtype=torch.float16, device=DEVICE),
        "M": M,
        "N": N,
        "K": K,
    }
    return {"inputs": inputs, "outputs": ["out"]}


def run_kernel(a, b, out, M, N, K, **_):
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    gemm_naive[grid](a, b, out, M, N, K, BM=32, BN=32, BK=32, num_warps=4, num_stages=1)
