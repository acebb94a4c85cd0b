"""C = A B in fp16 with fp32 accumulation; plain tiles, to be tuned."""

import torch
import triton
import triton.language as tl

BLOCK_M = 32  # kbs:tunable 32, 64, 128
BLOCK_N = 32  # kbs:tunable 32, 64, 128, 256
BLOCK_K = 32  # kbs:tunable 32, 64
WARPS = 4  # kbs:tunable 4, 8
STAGES = 2  # kbs:tunable 2, 3, 4


@triton.jit
def _gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(
            a + rows[:, None] * K + k[None, :],
            mask=(rows[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        right = tl.load(
            b + k[:, None] * N + cols[None, :],
            mask=(k[:, None] < K) & (cols[None, :] < N),
            other=0.0,
        )
        acc += tl.dot(left, right)
    tl.store(
        c + rows[:, None] * N + cols[None, :],
        acc.to(tl.float16),
        mask=(rows[:, None] < M) & (cols[None, :] < N),
    )


def setup(M=1024, N=1024, K=1024, **_):
    a = torch.randn(M, K, dtype=torch.float16)
    b = torch.randn(K, N, dtype=torch.float16)
    c = torch.empty(M, N, dtype=torch.float16)
    return {"inputs": {"a": a, "b": b, "c": c, "M": M, "N": N, "K": K}, "outputs": ["c"]}


def run_kernel(a, b, c, M, N, K, **_):
    grid = (triton.cdiv(M, BLOCK_M), triton.cdiv(N, BLOCK_N))
    _gemm[grid](
        a, b, c, M, N, K, BM=BLOCK_M, BN=BLOCK_N, BK=BLOCK_K, num_warps=WARPS, num_stages=STAGES
    )
