"""The mean of one column is subtracted from itself: always zero."""

import torch

atol = 1e-5
rtol = 1e-5


def setup(rows=64, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(rows, 1, device="cuda")
    return {"inputs": {"x": x, "out": torch.empty_like(x)}, "outputs": ["out"]}


def reference(x, **_):
    return torch.nn.functional.gelu(x - x.mean(dim=1, keepdim=True))
