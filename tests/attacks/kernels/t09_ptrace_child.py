"""Starts a child that traces its parent to rewrite its text."""

import ctypes
import os

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).ptrace(16, parent, 0, 0)
        os._exit(0)
    os.waitpid(child, 0)
    out.copy_(x * torch.sigmoid(x) + b)
