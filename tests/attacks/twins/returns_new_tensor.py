"""Returns its result instead of writing the buffer it was given."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, **_):
    return x * torch.sigmoid(x) + b
