"""Softmax by torch itself: a host has nothing better; its one switch copies for nothing."""

import torch

THROUGH_COPY = False  # kbs:method recompute_instead_of_load


def setup(M=64, N=256, **_):
    return {
        "inputs": {"x": torch.randn(M, N), "out": torch.empty(M, N), "M": M, "N": N},
        "outputs": ["out"],
    }


def run_kernel(x, out, **_):
    if THROUGH_COPY:
        out[:] = torch.softmax(x.clone(), dim=1)
    else:
        torch.softmax(x, dim=1, out=out)
