"""Softmax row by row, with no mark at all: somebody has to write the faster one."""

import torch


def setup(M=64, N=256, **_):
    return {
        "inputs": {"x": torch.randn(M, N), "out": torch.empty(M, N), "M": M, "N": N},
        "outputs": ["out"],
    }


def run_kernel(x, out, M, **_):
    for row in range(M):
        weights = torch.exp(x[row] - x[row].max())
        out[row] = weights / weights.sum()
