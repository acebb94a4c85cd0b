"""Softmax that survives large offsets."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, out, **_):
    shifted = torch.exp(x - x.amax(dim=-1, keepdim=True))
    torch.div(shifted, shifted.sum(dim=-1, keepdim=True), out=out)
