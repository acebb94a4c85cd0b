"""Wrong in one element of a thousand."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    out.copy_(x * torch.sigmoid(x) + b)
    out.view(-1)[::1000] += 0.5
