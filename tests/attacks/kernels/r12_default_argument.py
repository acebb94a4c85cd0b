"""A mutable default argument as the cache."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, kept=[], **_):  # noqa: B006 - the trick itself
    if not kept:
        kept.append(x * torch.sigmoid(x) + b)
    out.copy_(kept[0])
