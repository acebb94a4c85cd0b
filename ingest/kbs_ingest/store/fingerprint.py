"""A profile as a vector, so that similar past profiles are found without a language model.

Each feature is brought to about 0–1 by its unit, in the fixed order of ``FEATURES``:
percentages p/100; stall and sector ratios log2(1 + x)/6; bytes, times and counts
log10(1 + x)/12. A metric that was not measured is absent, not zero: distances are taken over
the features that both profiles have, as the root of the mean squared difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

FEATURES: Final = (
    "duration_ns", "grid_size", "block_size", "waves_per_sm", "registers_per_thread",
    "shared_bytes_per_block", "compute_pct", "memory_pct", "dram_pct", "l2_pct", "l1_pct",
    "dram_read_bytes", "dram_write_bytes", "l1_hit_pct", "l2_hit_pct",
    "load_sectors_per_request", "store_sectors_per_request", "load_bytes_per_sector_pct",
    "store_bytes_per_sector_pct", "shared_load_conflict_ways", "shared_store_conflict_ways",
    "local_load_bytes", "local_store_bytes", "tensor_pct", "fma_pct", "alu_pct", "xu_pct",
    "fp64_pct", "lsu_pct", "shared_pct", "issue_active_pct", "threads_per_instruction",
    "theoretical_occupancy_pct", "achieved_occupancy_pct", "eligible_warps",
    "stall_long_scoreboard", "stall_short_scoreboard", "stall_mio_throttle",
    "stall_lg_throttle", "stall_math_pipe_throttle", "stall_barrier", "stall_wait",
    "stall_branch_resolving", "stall_no_instruction", "stall_gmma", "stall_not_selected",
)  # fmt: skip
SIZE: Final = len(FEATURES)
MIN_SHARED = 8
"""Fewer common features say nothing about likeness."""
_RATIOS = ("_per_request", "_ways", "_per_sm", "_per_instruction", "eligible_warps", "stall_")


class Fingerprint(msgspec.Struct, frozen=True):
    """Values (0 where absent) and a mask (1 where present)."""

    values: tuple[float, ...]
    mask: tuple[float, ...]

    @property
    def empty(self) -> bool:
        """Whether too little was measured to compare."""
        return sum(self.mask) < MIN_SHARED


def fingerprint(metrics: Mapping[str, float]) -> Fingerprint:
    """The vector of a profile's canonical metrics."""
    values = [_scale(name, metrics.get(name)) for name in FEATURES]
    return Fingerprint(
        tuple(0.0 if value is None else value for value in values),
        tuple(0.0 if value is None else 1.0 for value in values),
    )


def _scale(name: str, value: float | None) -> float | None:
    if value is None or not math.isfinite(value) or value < 0:
        return None
    if name.endswith("_pct"):
        return min(value, 105.0) / 100
    if any(part in name for part in _RATIOS):
        return math.log2(1 + value) / 6
    return math.log10(1 + value) / 12


_INDEX: Final = {name: number for number, name in enumerate(FEATURES)}


def fingerprints(profiles: Sequence[Mapping[str, float]]) -> tuple[Any, Any]:
    """Values and masks of many profiles, as two float32 arrays of shape (profiles, SIZE).

    The same numbers as ``fingerprint``, but rows with too few features are all zero.
    """
    import numpy as np

    rows: list[int] = []
    columns: list[int] = []
    numbers: list[float] = []
    for row, metrics in enumerate(profiles):
        for name, value in metrics.items():
            column = _INDEX.get(name)
            if column is not None:
                rows.append(row)
                columns.append(column)
                numbers.append(value)
    found = np.asarray(numbers, dtype=np.float64)
    good = np.isfinite(found) & (found >= 0)
    where = (np.asarray(rows, dtype=np.int64)[good], np.asarray(columns, dtype=np.int64)[good])
    values = np.zeros((len(profiles), SIZE), dtype=np.float32)
    mask = np.zeros_like(values)
    values[where] = _scale_all(np, found[good], where[1])
    mask[where] = 1.0
    few = mask.sum(axis=1) < MIN_SHARED
    values[few], mask[few] = 0.0, 0.0
    return values, mask


def _scale_all(np: Any, found: Any, columns: Any) -> Any:
    percent = np.array([name.endswith("_pct") for name in FEATURES])[columns]
    ratio = np.array([any(part in name for part in _RATIOS) for name in FEATURES])[columns]
    logs = np.where(ratio, np.log2(1 + found) / 6, np.log10(1 + found) / 12)
    return np.where(percent, np.minimum(found, 105.0) / 100, logs)
