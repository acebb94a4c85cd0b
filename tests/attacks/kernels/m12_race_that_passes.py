"""A result that is wrong once in a while: here on the eleventh call."""

import torch

_CALLS = [0]


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    _CALLS[0] += 1
    out.copy_(x * torch.sigmoid(x) + b)
    if _CALLS[0] == 11:
        out[0, 0] += 1.0
