"""Returns the right values in another layout."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, **_):
    return (x * torch.sigmoid(x) + b).t().contiguous().t()
