"""Softmax over rows in blocks; two of its switches are wrong, the third one helps."""

import torch

SERIES = False  # kbs:method fast_math_intrinsics
HALF = False  # kbs:method reduced_precision_storage
WHOLE = False  # kbs:method multiple_rows_per_block


def setup(M=64, N=256, **_):
    return {
        "inputs": {"x": torch.randn(M, N), "out": torch.empty(M, N), "M": M, "N": N},
        "outputs": ["out"],
    }


def run_kernel(x, out, M, **_):
    rows = M if WHOLE else 4
    for start in range(0, M, rows):
        block = x[start : start + rows]
        shifted = block - block.max(dim=1, keepdim=True).values
        shifted = shifted.half().float() if HALF else shifted
        # three terms of the series are no exponential far from zero
        weights = 1 + shifted + shifted * shifted / 2 if SERIES else torch.exp(shifted)
        out[start : start + rows] = weights / weights.sum(dim=1, keepdim=True)
