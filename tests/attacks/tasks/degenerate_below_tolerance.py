"""Every expected value lies below the absolute tolerance: zeros would pass."""

import torch

atol = 1e-2
rtol = 1e-2


def setup(rows=64, cols=128, seed=0):
    torch.manual_seed(seed)
    x = torch.rand(rows, cols, device="cuda")
    return {"inputs": {"x": x, "out": torch.empty_like(x)}, "outputs": ["out"]}


def reference(x, **_):
    return x * 1e-4
