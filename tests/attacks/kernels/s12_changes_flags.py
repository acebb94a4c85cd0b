"""Changes global flags of torch."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.set_float32_matmul_precision("medium")
    out.copy_(x * torch.sigmoid(x) + b)
