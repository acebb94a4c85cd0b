"""A copy that spins SPIN_NS longer, on the host (dry runs)."""

import time

import torch

SPIN_NS = 0


def setup(N=1 << 20, **_):
    return {
        "inputs": {"x": torch.randn(N, device="cuda"), "y": torch.empty(N, device="cuda"), "N": N},
        "outputs": ["y"],
    }


def run_kernel(x, y, **_):
    y.copy_(x)
    end = time.perf_counter_ns() + SPIN_NS
    while time.perf_counter_ns() < end:
        pass
