"""C = A B, fp16."""

import torch

atol = 2e-2
rtol = 2e-2


def setup(M=1024, N=1024, K=1024, **_):
    a = torch.randn(M, K, dtype=torch.float16)
    b = torch.randn(K, N, dtype=torch.float16)
    c = torch.empty(M, N, dtype=torch.float16)
    return {"inputs": {"a": a, "b": b, "c": c, "M": M, "N": N, "K": K}, "outputs": ["c"]}


def reference(a, b, **_):
    return a @ b


def flops(M, N, K, **_):
    return 2.0 * M * N * K


def bytes(M, N, K, **_):
    return {"in": 2.0 * (M * K + K * N), "out": 2.0 * M * N}
