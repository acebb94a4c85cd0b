"""Matrix product on a grid of two axes, IEEE fp32."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"M": 40, "N": 24, "K": 40}, {"M": 32, "N": 32, "K": 32}]


@triton.jit
def mm_kernel(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = pid_n * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * K + rk[None, :],
                    mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)  # fmt: skip
        b = tl.load(B + rk[:, None] * N + rn[None, :],
                    mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)  # fmt: skip
        acc += tl.dot(a, b, input_precision="ieee")
    tl.store(C + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def setup(M, N, K):
    a, b = torch.randn(M, K, device=DEVICE), torch.randn(K, N, device=DEVICE)
    return {"inputs": {"a": a, "b": b, "c": torch.empty(M, N, device=DEVICE)}, "outputs": ["c"]}


def run_kernel(a, b, c):
    (M, K), N = a.shape, b.shape[1]
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 16))
    mm_kernel[grid](a, b, c, M, N, K, BM=16, BN=16, BK=16)


def reference(a, b, c):
    return {"c": a @ b}
