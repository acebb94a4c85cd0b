"""Adds what is small as well."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.add(x, b, out=out)
