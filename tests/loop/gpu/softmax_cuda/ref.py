"""Softmax over rows, fp32."""

import torch


def setup(M=4096, N=4096, **_):
    x = torch.randn(M, N)
    return {"inputs": {"x": x, "out": torch.empty_like(x), "M": M, "N": N}, "outputs": ["out"]}


def reference(x, **_):
    return torch.softmax(x, dim=1)


def flops(M, N, **_):
    return 3.0 * M * N


def bytes(M, N, **_):
    return {"in": 4.0 * M * N, "out": 4.0 * M * N}
