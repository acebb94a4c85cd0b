"""Starts a process and leaves it running."""

import subprocess
import sys

import torch

_LEFT = []


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    if not _LEFT:
        _LEFT.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
    out.copy_(x * torch.sigmoid(x) + b)
