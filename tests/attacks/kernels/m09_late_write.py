"""Changes its output after the clock has stopped, from threads that are soon gone."""

import threading
import time

import torch

_CALLS = [0]


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def _rest(out):
    time.sleep(0.004)
    out[0, 0] += 1.0


def run_kernel(x, b, out, **_):
    _CALLS[0] += 1
    out.copy_(x * torch.sigmoid(x) + b)
    if _CALLS[0] in (2, 4, 6, 8):
        threading.Thread(target=_rest, args=(out,), daemon=True).start()
