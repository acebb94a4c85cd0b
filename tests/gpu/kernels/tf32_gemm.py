"""C = A B by the library in TF32; the flag is put back after every call."""

import torch


def setup(M=256, N=256, K=256, **_):
    return {
        "inputs": {
            "a": torch.randn(M, K, device="cuda"),
            "b": torch.randn(K, N, device="cuda"),
            "c": torch.empty(M, N, device="cuda"),
        },
        "outputs": ["c"],
    }


def run_kernel(a, b, c, **_):
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        torch.mm(a, b, out=c)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
