"""GEMM of two fp32 matrices, whose library may use the TF32 tensor cores."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "matmul"
family = "gemm"


def setup(M=1024, N=1024, K=1024, **_):
    inputs = {
        "a": torch.randn(M, K, device=DEVICE),
        "b": torch.randn(K, N, device=DEVICE),
        "out": torch.empty(M, N, device=DEVICE),
        "M": M,
        "N": N,
        "K": K,
    }
    return {"inputs": inputs, "outputs": ["out"]}


def reference(a, b, out, **_):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.matmul(a, b, out=out)
    torch.backends.cuda.matmul.allow_tf32 = before


def flops(M=1024, N=1024, K=1024, **_):
    return 2 * M * N * K


def bytes(M=1024, N=1024, K=1024, **_):
    return {"in": 4 * (M * K + K * N), "out": 4 * M * N}
