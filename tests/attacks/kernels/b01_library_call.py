"""One call of a library, called a kernel: measured at what the library takes."""

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.add(torch.nn.functional.silu(x), b, out=out)
