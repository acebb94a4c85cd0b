"""Sums into memory that nobody cleared."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    out += x * torch.sigmoid(x) + b
