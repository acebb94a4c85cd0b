"""out += weight[index] · x: an output that is read, an index that must stay in its range."""

import torch

atol = 1e-5
rtol = 1e-5


def setup(rows=64, cols=128, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda")
    weight = torch.randn(16, device="cuda")
    index = torch.randint(0, 16, (rows,), device="cuda")
    out = torch.randn(rows, cols, device="cuda")
    inputs = {"x": x, "weight": weight, "index": index, "out": out, "rows": rows, "cols": cols}
    return {"inputs": inputs, "outputs": ["out"]}


def reference(x, weight, index, out, **_):
    out += weight[index][:, None] * x
