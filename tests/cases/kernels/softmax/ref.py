"""Softmax over the rows of an fp32 matrix."""

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
op = "softmax"
family = "softmax"


def setup(M=4096, N=4096, **_):
    x = torch.randn(M, N, device=DEVICE)
    return {"inputs": {"x": x, "out": torch.empty_like(x), "M": M, "N": N}, "outputs": ["out"]}


def reference(x, out, **_):
    out.copy_(torch.softmax(x, -1))


def bytes(M=4096, N=4096, **_):
    return {"in": 4 * M * N, "out": 4 * M * N}
