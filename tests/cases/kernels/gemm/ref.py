"""GEMM of two matrices of one type."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "matmul"
family = "gemm"


def setup(M=1024, N=1024, K=1024, half=False, **_):
    dtype = torch.float16 if half else torch.float32
    a = torch.randn(M, K, device=DEVICE).to(dtype)
    b = torch.randn(K, N, device=DEVICE).to(dtype)
    inputs = {
        "a": a,
        "b": b,
        "out": torch.empty(M, N, dtype=dtype, device=DEVICE),
        "M": M,
        "N": N,
        "K": K,
    }
    return {"inputs": inputs, "outputs": ["out"]}


def reference(a, b, out, **_):
    torch.matmul(a, b, out=out)


def flops(M=1024, N=1024, K=1024, **_):
    return 2 * M * N * K


def bytes(M=1024, N=1024, K=1024, half=False, **_):
    size = 2 if half else 4
    return {"in": size * (M * K + K * N), "out": size * M * N}
