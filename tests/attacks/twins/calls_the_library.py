"""An honest call of a library: what it takes is what is measured."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.add(torch.nn.functional.silu(x), b, out=out)
