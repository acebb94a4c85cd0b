"""Computes honestly beside a thread, started at once, that looks for inputs all the time."""

import _thread

import torch

_SEEN = []


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def _look():
    while True:
        if _SEEN:
            _SEEN[0].sum().item()


def run_kernel(x, b, out, **_):
    if not _SEEN:
        _SEEN.append(x.clone())
        _thread.start_new_thread(_look, ())
    out.copy_(x * torch.sigmoid(x) + b)
