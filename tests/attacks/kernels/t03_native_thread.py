"""Computes honestly; a later call leaves a thread that Python does not know."""

import ctypes

import torch

_LIBC = ctypes.CDLL(None)
_CALLS = []


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    _CALLS.append(1)
    if len(_CALLS) == 3:
        thread = ctypes.c_ulong()
        start = ctypes.cast(_LIBC.sleep, ctypes.c_void_p)
        _LIBC.pthread_create(ctypes.byref(thread), None, start, ctypes.c_void_p(600))
    out.copy_(x * torch.sigmoid(x) + b)
