"""Seeds torch when it is imported, as many scripts do."""

import torch

torch.manual_seed(0)


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)
