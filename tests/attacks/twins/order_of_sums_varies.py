"""Sums in another order on every call, as atomics do: bits differ, values agree."""

import random

import torch

_ORDER = random.Random(1)


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(a, b, out, n, **_):
    cuts = list(range(0, n, 8))
    _ORDER.shuffle(cuts)
    total = torch.zeros_like(out)
    for start in cuts:
        total += a[:, start : start + 8] @ b[start : start + 8]
    out.copy_(total)
