"""Sums of the rows of an M x N fp32 matrix."""

import torch

family = "reduction"


def setup(M=4096, N=16384, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(M, N, device="cuda", dtype=torch.float32)
    out = torch.empty(M, device="cuda", dtype=torch.float32)
    return {"inputs": {"x": x, "out": out, "M": M, "N": N}, "outputs": ["out"]}


def reference(x, out, **_):
    torch.sum(x, dim=1, out=out)


def flops(M=4096, N=16384):
    return {"fp32": M * (N - 1)}
