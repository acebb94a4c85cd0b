"""Its own part always fails; the result comes from the fall-back."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    try:
        raise RuntimeError("my kernel is not ready")
    except RuntimeError:
        torch.mul(x, torch.sigmoid(x), out=out)
        out.add_(b)
