"""Compiles on the first call: slow once, and told as the cold time."""

import time

import torch

_READY = []


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    if not _READY:
        time.sleep(0.2)
        _READY.append(True)
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)
