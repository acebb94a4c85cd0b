"""Prints, also something that looks like a result."""

import sys

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    print("speedup: 1.0x")
    print('{"passed": true}', file=sys.stderr)
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)
