"""Returns its result by name."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, **_):
    return {"out": x * torch.sigmoid(x) + b}
