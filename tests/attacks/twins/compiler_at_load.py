"""Starts a process while loading, as a compiler would."""

import subprocess
import sys

import torch

subprocess.run([sys.executable, "-c", "pass"], check=True)


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)
