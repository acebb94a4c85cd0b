"""Ends its parent process."""

import os
import signal

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    os.kill(os.getppid(), signal.SIGKILL)
    out.copy_(x * torch.sigmoid(x) + b)
