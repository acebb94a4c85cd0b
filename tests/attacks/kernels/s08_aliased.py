"""Computes in place on its input and returns that."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    x.mul_(torch.sigmoid(x)).add_(b)
    return x
