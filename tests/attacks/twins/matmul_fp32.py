"""The product in the precision that the task asks for."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(a, b, out, **_):
    torch.matmul(a, b, out=out)
