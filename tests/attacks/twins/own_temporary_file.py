"""Writes a cache file into its own temporary folder, as compilers do."""

import tempfile
from pathlib import Path

import torch


def setup(**dims):
    return {"inputs": {}, "outputs": []}


def run_kernel(x, b, out, **_):
    (Path(tempfile.gettempdir()) / "tuning.txt").write_text("best: 128\n")
    torch.mul(x, torch.sigmoid(x), out=out)
    out.add_(b)
