import torch


def setup(N=300, **_):
    return {
        "inputs": {"x": torch.randn(N, device="cuda"), "y": torch.empty(N, device="cuda")},
        "outputs": ["y"],
    }


def reference(x, y, **_):
    y.copy_(torch.softmax(x, 0))
