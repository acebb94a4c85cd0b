"""Packs its weights in every call: preprocessing that is paid for."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    packed = b.expand(x.shape).contiguous()
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(packed)
