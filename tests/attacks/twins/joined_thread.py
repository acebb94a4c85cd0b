"""Uses a thread for one half of the rows and joins it before it returns."""

import threading

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def _part(x, b, out):
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)


def run_kernel(x, b, out, **_):
    half = x.shape[0] // 2
    helper = threading.Thread(target=_part, args=(x[:half], b, out[:half]))
    helper.start()
    _part(x[half:], b, out[half:])
    helper.join()
