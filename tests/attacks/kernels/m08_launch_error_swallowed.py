"""Its launch fails, nobody looks at the error, and stale output is left."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    try:
        torch.mul(x, torch.empty(3, 3), out=out)
    except RuntimeError:
        return
