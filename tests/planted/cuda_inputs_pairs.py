"""Inputs of the planted CUDA cases with two faults (k301 on)."""

from __future__ import annotations

from typing import Any

from cuda_inputs import Data, Spec, elementwise, empty, integers, square, transposed, uniform
from cuda_inputs_latency import four_series


def cells(torch: Any) -> Data:
    """40 variables of 2^20 cells, cell by cell and variable by variable."""
    n = 1 << 20
    by_cell, out = uniform(torch, n, 40), empty(torch, n)
    by_variable = by_cell.t().contiguous()
    return Data([by_cell, by_variable, out], [n, 8], [out])


def orbits(torch: Any) -> Data:
    """2^23 records of 64 bytes (value, code, 14 others), and both fields as arrays."""
    n = 1 << 23
    records = uniform(torch, n, 16)
    code = integers(torch, n, high=8)
    records[:, 1] = code.view(torch.float32)
    value, out = records[:, 0].contiguous(), empty(torch, n)
    return Data([records, value, code, out], [n], [out])


def bytes_histogram(torch: Any) -> Data:
    """2^24 bytes."""
    n = 1 << 24
    x, bins = integers(torch, n, high=256, dtype=torch.uint8), empty(torch, 256, dtype=torch.int32)
    return Data([x, bins], [n], [bins], lambda: [torch.bincount(x.int(), minlength=256).int()])


def shade(torch: Any) -> Data:
    """NCHW 16 x 48 x 200 x 250 with a scale by channel."""
    b, c, h, w = 16, 48, 200, 250
    x, factor, out = uniform(torch, b, c, h, w), uniform(torch, c), empty(torch, b, c, h, w)
    return Data([x, factor, out], [b, c, h, w], [out])


def fixes(first: str, second: str) -> tuple[str, ...]:
    """Each fault cured alone, and both."""
    return (f"fix_{first}", f"fix_{second}", "fixed")


SPECS: dict[str, Spec] = {
    "k301_cells": Spec(cells, fixes("uncoalesced_global_load", "register_spills")),
    "k302_tile": Spec(
        square(8192, transposed), fixes("shared_bank_conflicts", "occupancy_limited_shared")
    ),
    "k303_orbits": Spec(orbits, fixes("uncoalesced_global_load", "thread_divergence")),
    "k304_grade": Spec(elementwise(1 << 24), fixes("unintended_fp64", "small_grid")),
    "k305_bytes": Spec(bytes_histogram, fixes("narrow_global_access", "atomic_contention")),
    "k306_shade": Spec(shade, fixes("unintended_fp64", "division_heavy")),
    "k307_settle": Spec(four_series(132 * 128, 8192), fixes("non_fused_arithmetic", "wait_stall")),
}
