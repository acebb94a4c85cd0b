"""A copy of 16 MB, which an L2 could hold: after a flush it must come from memory."""

import torch

family = "elementwise"
atol = 0.0
rtol = 0.0


def setup(rows=2048, cols=2048, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda")
    out = torch.empty_like(x)
    return {"inputs": {"x": x, "out": out, "rows": rows, "cols": cols}, "outputs": ["out"]}


def reference(x, **_):
    return x.clone()


def bytes(rows=2048, cols=2048):  # noqa: A001 - the name of the contract
    return {"in": 4 * rows * cols, "out": 4 * rows * cols}
