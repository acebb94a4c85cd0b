"""What one or two numbers suggest when the full rule of a symptom cannot be asked.

A rule asks for all that it needs, so that it never says yes or no on half of the evidence. A
person who gives two numbers still deserves an answer; it is weaker, and says what it rests on.
Thresholds are those of Nsight's own rules where it has one (gpu-wiki/profiling), else the value
from which the hardware does twice the work.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from kbs_engine.vocabulary import MATRIX_FAMILIES

Metrics = Mapping[str, float]


class Clue(msgspec.Struct, frozen=True, kw_only=True):
    """A symptom that something suggests, with the share of time that it might return."""

    symptom: str
    share: float
    why: str


_SINGLE: Final[tuple[tuple[str, str, float, str, float], ...]] = (
    # metric, comparison, bound, symptom, share
    ("load_sectors_per_request", ">=", 8, "uncoalesced_global_load", 0.4),
    ("store_sectors_per_request", ">=", 8, "uncoalesced_global_store", 0.35),
    ("load_bytes_per_sector_pct", "<", 62, "uncoalesced_global_load", 0.4),
    ("store_bytes_per_sector_pct", "<", 62, "uncoalesced_global_store", 0.4),
    ("load_bytes_per_sector", "<", 20, "uncoalesced_global_load", 0.4),
    ("store_bytes_per_sector", "<", 20, "uncoalesced_global_store", 0.4),
    ("global_excess_sectors", ">", 0, "uncoalesced_global_load", 0.3),
    ("load_excess_sectors", ">", 0, "uncoalesced_global_load", 0.3),
    ("store_excess_sectors", ">", 0, "uncoalesced_global_store", 0.3),
    ("shared_load_conflict_ways", ">=", 1.5, "shared_bank_conflicts", 0.4),
    ("shared_store_conflict_ways", ">=", 1.5, "shared_bank_conflicts", 0.4),
    ("shared_load_conflicts", ">=", 1000, "shared_bank_conflicts", 0.4),
    ("shared_store_conflicts", ">=", 1000, "shared_bank_conflicts", 0.4),
    ("shared_excess_wavefronts", ">=", 1000, "shared_bank_conflicts", 0.4),
    ("shared_conflict_pct", ">=", 10, "shared_bank_conflicts", 0.4),
    ("shared_conflict_cycles", ">=", 1000, "shared_bank_conflicts", 0.3),
    ("local_load_bytes", ">", 0, "register_spills", 0.4),
    ("local_store_bytes", ">", 0, "register_spills", 0.4),
    ("local_load_instructions", ">", 0, "register_spills", 0.4),
    ("local_store_instructions", ">", 0, "register_spills", 0.4),
    ("spill_requests", ">", 0, "register_spills", 0.4),
    ("spill_requests_pct", ">", 1, "register_spills", 0.4),
    ("scratch_bytes_per_thread", ">", 0, "register_spills", 0.35),
    ("registers_per_thread", ">=", 250, "register_spills", 0.2),
    ("registers_per_thread", ">=", 128, "occupancy_limited_registers", 0.15),
    ("global_atomics", ">=", 1000, "atomic_contention", 0.25),
    ("l2_atomic_max_pct", ">=", 40, "atomic_contention", 0.4),
    ("l2_hit_pct", "<", 50, "low_l2_hit_rate", 0.25),
    ("lts_read_hit_pct", "<", 50, "low_l2_hit_rate", 0.25),
    ("eligible_warps", "<", 1, "low_eligible_warps", 0.25),
    ("eligible_per_scheduler", "<", 1, "low_eligible_warps", 0.25),
    ("no_eligible_pct", ">", 60, "low_eligible_warps", 0.25),
    ("issue_active_pct", "<", 40, "low_eligible_warps", 0.2),
    ("ipc_active", "<", 1, "low_eligible_warps", 0.2),
    ("waves_per_sm", "<", 1, "small_grid", 0.4),
    ("grid_size", "<", 64, "small_grid", 0.4),
    ("block_size", "<=", 64, "occupancy_limited_block_size", 0.25),
    ("achieved_occupancy_pct", "<", 35, "achieved_occupancy_low", 0.2),
    ("branch_efficiency_pct", "<", 90, "thread_divergence", 0.3),
    ("lane_utilization_pct", "<", 75, "thread_divergence", 0.3),
    ("threads_per_instruction", "<", 24, "thread_divergence", 0.3),
    ("unpredicated_threads_per_instruction", "<", 24, "predicated_off_threads", 0.25),
    ("fp64_pct", ">=", 15, "unintended_fp64", 0.3),
    ("fp32_nonfused_ops", ">", 0, "non_fused_arithmetic", 0.1),
    ("kernel_count", ">=", 5, "many_small_kernels", 0.4),
    ("imc_hit_pct", "<", 90, "imc_miss_stall", 0.2),
    ("icache_hit_pct", "<", 90, "no_instruction_stall", 0.2),
    ("mufu_ops", ">", 0, "xu_pipe_saturated", 0.1),
    ("sm_active_min_pct", "<", 60, "workload_imbalance", 0.3),
)

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}

NOT_STALLS: Final = frozenset({"selected", "not_selected", "misc", "sleeping", "dispatch_stall"})
STALL_SHARE: Final = 0.3
"""The same as a share of all warp cycles: Nsight's own bound."""
LOW_OCCUPANCY_PCT: Final = 50.0
MANY_REGISTERS: Final = 64
"""Registers per thread above which fewer than half of the warps of an SM fit."""
MUCH_SHARED: Final = 48 * 1024
FED_TENSOR_PCT: Final = 70.0
BUSY_PCT: Final = 60.0
MARGIN_PCT: Final = 10.0
STALL_CYCLES: Final = 2.0
"""Cycles per issued instruction from which a stall alone is worth a word."""


def clues_from_numbers(metrics: Metrics, family: str | None) -> tuple[Clue, ...]:
    """Clues, strongest first; one per symptom."""
    found: dict[str, Clue] = {}

    def add(symptom: str, share: float, why: str) -> None:
        if symptom not in found or found[symptom].share < share:
            found[symptom] = Clue(symptom=symptom, share=share, why=why)

    for metric, comparison, bound, symptom, share in _SINGLE:
        value = metrics.get(metric)
        if value is not None and _COMPARE[comparison](value, bound):
            add(symptom, share, f"{metric} is {value:g}")
    for symptom, share, why in (
        *_stalls(metrics),
        *_occupancy(metrics),
        *_matrix(metrics, family),
        *_throughput(metrics),
    ):
        add(symptom, share, why)
    return tuple(sorted(found.values(), key=lambda clue: (-clue.share, clue.symptom)))


def _stalls(metrics: Metrics) -> list[tuple[str, float, str]]:
    """The largest stall reason, by its share where the total is known."""
    stalls = {
        name: value
        for name, value in metrics.items()
        if name.startswith("stall_") and name.removeprefix("stall_") not in NOT_STALLS
    }
    total = metrics.get("warp_cycles_per_issue")
    found = []
    for name, value in stalls.items():
        share = value / total if total else value / (value + 4)
        if share >= STALL_SHARE and value >= (0 if total else STALL_CYCLES):
            symptom = f"{name.removeprefix('stall_')}_stall"
            found.append((symptom, min(0.45, 0.6 * share), f"{name} is {value:g}"))
    return found


def _occupancy(metrics: Metrics) -> list[tuple[str, float, str]]:
    """The limit that a low theoretical occupancy comes from, where one is in sight."""
    value = metrics.get("theoretical_occupancy_pct", metrics.get("achieved_occupancy_pct"))
    if value is None or value > LOW_OCCUPANCY_PCT:
        return []
    why = f"occupancy is {value:g} %"
    limits = {
        "occupancy_limited_registers": metrics.get("occupancy_limit_registers"),
        "occupancy_limited_shared": metrics.get("occupancy_limit_shared"),
        "occupancy_limited_block_size": metrics.get("occupancy_limit_blocks"),
    }
    known = {name: limit for name, limit in limits.items() if limit is not None}
    if len(known) > 1:
        name = min(known, key=lambda key: (known[key], key))
        return [(name, 0.25, f"{why} and this limit is the lowest")]
    found = []
    if metrics.get("registers_per_thread", 0) > MANY_REGISTERS:
        found.append(("occupancy_limited_registers", 0.25, f"{why} with many registers"))
    if metrics.get("shared_bytes_per_block", 0) > MUCH_SHARED:
        found.append(("occupancy_limited_shared", 0.25, f"{why} with much shared memory"))
    return found


def _matrix(metrics: Metrics, family: str | None) -> list[tuple[str, float, str]]:
    tensor = metrics.get("tensor_pct")
    if tensor is None or family not in MATRIX_FAMILIES:
        return []
    if tensor < 1:
        return [("tensor_cores_idle", 0.5, f"tensor_pct is {tensor:g} in a {family} kernel")]
    if tensor < FED_TENSOR_PCT:
        share = 0.6 * (1 - tensor / 100)
        return [("tensor_pipe_underfed", share, f"tensor_pct is {tensor:g} in a {family} kernel")]
    return []


def _throughput(metrics: Metrics) -> list[tuple[str, float, str]]:
    """Only the speed-of-light totals are known."""
    memory = metrics.get("memory_pct", metrics.get("memory_busy_pct"))
    if memory is None or memory < BUSY_PCT or memory - metrics.get("compute_pct", 0) < MARGIN_PCT:
        return []
    if any(name in metrics for name in ("dram_pct", "l1_pct", "l2_pct")):
        return []
    why = f"memory throughput is {memory:g} %"
    return [("dram_bandwidth_saturated", 0.3, why), ("excess_dram_traffic", 0.25, why)]
