"""Batched matrix product, the batch on the third axis."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

DIMS = [{"B": 2, "M": 16, "N": 32, "K": 32}]


@triton.jit
def bmm_kernel(x, w, o, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    batch = tl.program_id(2)
    x += batch * M * K
    w += batch * K * N
    o += batch * M * N
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * TILE_M + tl.arange(0, TILE_M)
    offs_n = pid_n * TILE_N + tl.arange(0, TILE_N)
    offs_k = tl.arange(0, TILE_K)
    x_ptrs = x + offs_m[:, None] * K + offs_k[None, :]
    w_ptrs = w + offs_k[:, None] * N + offs_n[None, :]
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(tl.cdiv(K, TILE_K)):
        acc += tl.dot(tl.load(x_ptrs), tl.load(w_ptrs))
        x_ptrs += TILE_K
        w_ptrs += TILE_K * N
    tl.store(o + offs_m[:, None] * N + offs_n[None, :], acc)


def setup(B, M, N, K):
    x = torch.randn(B, M, K, device=DEVICE, dtype=torch.float16)
    w = torch.randn(B, K, N, device=DEVICE, dtype=torch.float16)
    o = torch.empty(B, M, N, device=DEVICE)
    return {"inputs": {"x": x, "w": w, "o": o}, "outputs": ["o"]}


def run_kernel(x, w, o):
    batch, M, K = x.shape
    N = w.shape[2]
    grid = (M // 16, N // 16, batch)
    bmm_kernel[grid](x, w, o, M, N, K, TILE_M=16, TILE_N=16, TILE_K=16)


def reference(x, w, o):
    return {"o": x.float() @ w.float()}
