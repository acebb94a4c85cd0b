"""The plain honest kernel."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)
