"""Row softmax, with the tolerance derived from the data type."""

import torch


def setup(rows=32, cols=256, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda")
    return {"inputs": {"x": x, "out": torch.empty_like(x)}, "outputs": ["out"]}


def reference(x, **_):
    return torch.softmax(x, dim=-1)
