"""Makes torch slow for everybody, so that the baseline looks bad."""

import time

import torch

_sigmoid = torch.sigmoid


def _slow(*args, **kwargs):
    time.sleep(0.02)
    return _sigmoid(*args, **kwargs)


torch.sigmoid = _slow


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.mul(x, _sigmoid(x), out=out)
    out.add_(b)
