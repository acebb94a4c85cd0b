"""The columns of the four rows that a rule reads (docs/wiki-format.md, Symptom rules)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

CALL: Final = frozenset(
    {"call_time_ns", "kernel_count", "kernel_time_ns", "short_kernel_count", "time_share"}
)
WORK: Final = frozenset(
    {
        "flops", "bytes_min", "bytes_in", "bytes_out", "dtype", "kernel", "matrix",
        "fp64_permitted", "tensor_permitted",
    }
)  # fmt: skip
HARDWARE: Final = frozenset(
    {
        "peak_bandwidth_bytes_per_s", "l2_bytes", "unit_count", "max_warps_per_unit",
        "sm_clock_peak_hz", "has_tensor", "empty_launch_ns", "memory_roof_ns",
        "compute_roof_ns", "model_ns", "gap",
    }
)  # fmt: skip
TEXT: Final = frozenset({"w.dtype", "w.kernel"})
"""Columns that hold words; all others hold numbers."""

STALLS: Final = (
    "long_scoreboard", "short_scoreboard", "mio_throttle", "lg_throttle", "tex_throttle",
    "math_pipe_throttle", "barrier", "membar", "wait", "branch_resolving", "no_instruction",
    "drain", "dispatch_stall", "imc_miss", "gmma", "warpgroup_arrive", "sleeping", "misc",
    "not_selected", "selected",
)  # fmt: skip
METRICS: Final = frozenset(
    {
        "duration_ns", "grid_size", "block_size", "waves_per_sm", "registers_per_thread",
        "shared_bytes_per_block", "sm_count", "sm_clock_hz", "dram_clock_hz",
        "sm_active_min_pct", "sm_active_max_pct", "compute_pct", "memory_pct", "dram_pct",
        "l2_pct", "l1_pct", "dram_read_bytes", "dram_write_bytes", "l1_hit_pct", "l2_hit_pct",
        "load_sectors_per_request", "store_sectors_per_request", "load_bytes_per_sector_pct",
        "store_bytes_per_sector_pct", "shared_load_conflicts", "shared_store_conflicts",
        "shared_load_conflict_ways", "shared_store_conflict_ways", "local_load_bytes",
        "local_store_bytes", "global_atomics", "tensor_pct", "fma_pct", "alu_pct", "xu_pct",
        "fp64_pct", "lsu_pct", "tma_pct", "shared_pct", "issue_active_pct",
        "threads_per_instruction", "unpredicated_threads_per_instruction",
        "theoretical_occupancy_pct", "achieved_occupancy_pct", "active_warps",
        "eligible_warps", "occupancy_limit_registers", "occupancy_limit_shared",
        "occupancy_limit_warps", "occupancy_limit_blocks",
        *(f"stall_{reason}" for reason in STALLS),
    }
)  # fmt: skip
"""The core canonical metrics of docs/vocabulary.md; the wiki's metric maps add to them."""
OPCODE_PREFIX: Final = "opcode_"
"""``opcode_<name>``: the instruction mix, one metric for each mnemonic."""


class Columns:
    """Which columns exist, given the metrics that a wiki's maps define."""

    def __init__(self, metrics: Iterable[str] = ()) -> None:
        """Core metrics and ``metrics``."""
        self.metrics = METRICS | frozenset(metrics)
        self.all = frozenset(
            f"{row}.{name}"
            for row, names in (("p", self.metrics), ("c", CALL), ("w", WORK), ("h", HARDWARE))
            for name in names
        )

    def is_metric(self, name: str) -> bool:
        """Whether ``name`` is a canonical metric."""
        return name in self.metrics or name.startswith(OPCODE_PREFIX)

    def known(self, column: str) -> bool:
        """Whether ``column`` (``p.dram_pct``) exists."""
        return column in self.all or column.startswith(f"p.{OPCODE_PREFIX}")
