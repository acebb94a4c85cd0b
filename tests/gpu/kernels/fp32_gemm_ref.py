"""C = A B in fp32."""

import torch

family = "gemm"


def setup(M=256, N=256, K=256, **_):
    return {
        "inputs": {
            "a": torch.randn(M, K, device="cuda"),
            "b": torch.randn(K, N, device="cuda"),
            "c": torch.empty(M, N, device="cuda"),
        },
        "outputs": ["c"],
    }


def reference(a, b, c, **_):
    torch.mm(a, b, out=c)


def flops(M=256, N=256, K=256, **_):
    return {"fp32": 2 * M * N * K}
