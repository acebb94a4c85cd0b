"""A bias of a thousandth beside values of one: small, and not to be skipped."""

import torch


def setup(rows=64, cols=128, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda")
    b = 1e-3 * torch.randn(cols, device="cuda")
    return {"inputs": {"x": x, "b": b, "out": torch.empty_like(x)}, "outputs": ["out"]}


def reference(x, b, **_):
    return x + b
