"""Writes the right result in place and returns a view of its input all the same."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    out.copy_(x * torch.sigmoid(x) + b)
    return x
