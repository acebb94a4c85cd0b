"""The second half of the rows is always zero: what a kernel may be tempted not to write."""

import torch

atol = 1e-5
rtol = 1e-5


def setup(rows=64, cols=1024, seed=0):
    torch.manual_seed(seed)
    x = torch.randn(rows, cols, device="cuda")
    return {"inputs": {"x": x, "out": torch.zeros_like(x)}, "outputs": ["out"]}


def reference(x, **_):
    out = x * 2.0
    out[x.shape[0] // 2 :] = 0.0
    return out
