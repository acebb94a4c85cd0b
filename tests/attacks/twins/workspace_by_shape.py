"""Keeps a scratch buffer by shape: the buffer is reused, its contents never are."""

import torch

_SCRATCH = {}


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    key = (tuple(x.shape), x.device)
    if key not in _SCRATCH:
        _SCRATCH[key] = torch.empty_like(x)
    scratch = _SCRATCH[key]
    torch.sigmoid(x, out=scratch)
    torch.mul(x, scratch, out=out)
    out.add_(b)
