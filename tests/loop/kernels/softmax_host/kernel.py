"""Softmax over rows in plain torch on a CPU, slow on purpose: every row is a call of its own."""

import torch

ROWS = 1  # kbs:tunable 1, 8, 64
SINGLE_PASS = False  # kbs:method single_pass_algorithm
HOIST = False  # kbs:method hoist_invariants


def setup(M=64, N=256, **_):
    return {
        "inputs": {"x": torch.randn(M, N), "out": torch.empty(M, N), "M": M, "N": N},
        "outputs": ["out"],
    }


def _shifted(block):
    return block - block.max(dim=1, keepdim=True).values


def run_kernel(x, out, M, N, **_):
    for start in range(0, M, ROWS):
        block = x[start : start + ROWS]
        shifted = _shifted(block)
        if SINGLE_PASS:
            weights = torch.exp(shifted)
            total = weights.sum(dim=1, keepdim=True)
        else:
            total = torch.exp(shifted).sum(dim=1, keepdim=True)
            weights = torch.exp(_shifted(block))
        if HOIST:
            out[start : start + ROWS] = weights * (1.0 / total)
        else:
            out[start : start + ROWS] = weights / total.expand(-1, N).contiguous()
