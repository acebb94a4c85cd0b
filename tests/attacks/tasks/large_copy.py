"""A copy of 64 MB: larger than any L2."""

import torch

family = "elementwise"
atol = 0.0
rtol = 0.0


def setup(rows=4096, cols=4096, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda")
    out = torch.empty_like(x)
    return {"inputs": {"x": x, "out": out, "rows": rows, "cols": cols}, "outputs": ["out"]}


def reference(x, **_):
    return x.clone()


def bytes(rows=4096, cols=4096):  # noqa: A001 - the name of the contract
    return {"in": 4 * rows * cols, "out": 4 * rows * cols}
