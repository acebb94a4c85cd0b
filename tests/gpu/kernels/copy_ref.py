"""A copy of N floats."""

import torch

family = "elementwise"


def setup(N=1 << 20, **_):
    return {
        "inputs": {"x": torch.randn(N, device="cuda"), "y": torch.empty(N, device="cuda"), "N": N},
        "outputs": ["y"],
    }


def reference(x, y, **_):
    y.copy_(x)


def bytes(N=1 << 20, **_):
    return {"in": 4 * N, "out": 4 * N}
