import torch


def setup(N=300, **_):
    return {"inputs": {"x": torch.randn(N), "y": torch.empty(N)}, "outputs": ["y"]}


def reference(x, y, **_):
    y.copy_(torch.softmax(x, 0))
