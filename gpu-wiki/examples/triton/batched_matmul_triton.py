"""Batched GEMM: one grid row of tiles per batch."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

BLOCK_M = 64  # kbs:tunable 32, 64, 128
BLOCK_N = 64  # kbs:tunable 32, 64, 128
BLOCK_K = 32  # kbs:tunable 32, 64
NUM_WARPS = 4  # kbs:tunable 4, 8
NUM_STAGES = 3  # kbs:tunable 2, 3, 4
TF32 = False  # kbs:method tf32_precision


@triton.jit
def batched_matmul(a, b, out, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                   BLOCK_K: tl.constexpr, PRECISION: tl.constexpr):
    tile, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    columns = tl.cdiv(N, BLOCK_N)
    at_m = tile // columns * BLOCK_M + tl.arange(0, BLOCK_M)
    at_n = tile % columns * BLOCK_N + tl.arange(0, BLOCK_N)
    lanes = tl.arange(0, BLOCK_K)
    a += batch * M * K
    b += batch * K * N
    out += batch * M * N
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        at_k = step * BLOCK_K + lanes
        left = tl.load(a + at_m[:, None] * K + at_k[None, :],
                       mask=(at_m[:, None] < M) & (at_k[None, :] < K), other=0.0)
        right = tl.load(b + at_k[:, None] * N + at_n[None, :],
                        mask=(at_k[:, None] < K) & (at_n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(out + at_m[:, None] * N + at_n[None, :], total,
             mask=(at_m[:, None] < M) & (at_n[None, :] < N))


def launch(a, b, out):
    rows, depth = a.shape[-2:]
    columns = b.shape[-1]
    grid = (triton.cdiv(rows, BLOCK_M) * triton.cdiv(columns, BLOCK_N),
            out.numel() // (rows * columns))
    batched_matmul[grid](
        a, b, out, rows, columns, depth, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N, BLOCK_K=BLOCK_K,
        PRECISION="tf32" if TF32 else "ieee", num_warps=NUM_WARPS, num_stages=NUM_STAGES,
    )


# kbs:adapter
def setup(B=8, M=256, N=256, K=256, **dims):
    a = torch.randn(B, M, K, device=DEVICE).to(torch.float16)
    b = torch.randn(B, K, N, device=DEVICE).to(torch.float16)
    out = torch.empty(B, M, N, dtype=torch.float16, device=DEVICE)
    return {"inputs": {"a": a, "b": b, "out": out}, "outputs": ["out"]}


def run_kernel(a, b, out, **dims):
    launch(a, b, out)
# kbs:end
