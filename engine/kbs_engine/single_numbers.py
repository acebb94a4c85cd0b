"""What one or two numbers suggest when the full rule of a symptom cannot be asked.

A rule asks for all that it needs, so that it never says yes or no on half of the evidence. A
person who gives two numbers still deserves an answer; it is weaker, and says what it rests on.
Thresholds are those of Nsight's own rules where it has one (docs/profiling), else the value
from which the hardware does twice the work.
"""

from __future__ import annotations

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


Test = Callable[[float], bool]

_SINGLE: Final[tuple[tuple[str, Test, str, float], ...]] = (
    # metric, test, symptom, share
    ("load_sectors_per_request", lambda v: v >= 8, "uncoalesced_global_load", 0.4),
    ("store_sectors_per_request", lambda v: v >= 8, "uncoalesced_global_store", 0.35),
    ("load_bytes_per_sector_pct", lambda v: v < 62, "uncoalesced_global_load", 0.4),
    ("store_bytes_per_sector_pct", lambda v: v < 62, "uncoalesced_global_store", 0.4),
    ("load_bytes_per_sector", lambda v: v < 20, "uncoalesced_global_load", 0.4),
    ("store_bytes_per_sector", lambda v: v < 20, "uncoalesced_global_store", 0.4),
    ("global_excess_sectors", lambda v: v > 0, "uncoalesced_global_load", 0.3),
    ("load_excess_sectors", lambda v: v > 0, "uncoalesced_global_load", 0.3),
    ("store_excess_sectors", lambda v: v > 0, "uncoalesced_global_store", 0.3),
    ("shared_load_conflict_ways", lambda v: v >= 1.5, "shared_bank_conflicts", 0.4),
    ("shared_store_conflict_ways", lambda v: v >= 1.5, "shared_bank_conflicts", 0.4),
    ("shared_load_conflicts", lambda v: v >= 1000, "shared_bank_conflicts", 0.4),
    ("shared_store_conflicts", lambda v: v >= 1000, "shared_bank_conflicts", 0.4),
    ("shared_excess_wavefronts", lambda v: v >= 1000, "shared_bank_conflicts", 0.4),
    ("shared_conflict_pct", lambda v: v >= 10, "shared_bank_conflicts", 0.4),
    ("shared_conflict_cycles", lambda v: v >= 1000, "shared_bank_conflicts", 0.3),
    ("local_load_bytes", lambda v: v > 0, "register_spills", 0.4),
    ("local_store_bytes", lambda v: v > 0, "register_spills", 0.4),
    ("local_load_instructions", lambda v: v > 0, "register_spills", 0.4),
    ("local_store_instructions", lambda v: v > 0, "register_spills", 0.4),
    ("spill_requests", lambda v: v > 0, "register_spills", 0.4),
    ("spill_requests_pct", lambda v: v > 1, "register_spills", 0.4),
    ("scratch_bytes_per_thread", lambda v: v > 0, "register_spills", 0.35),
    ("registers_per_thread", lambda v: v >= 250, "register_spills", 0.2),
    ("registers_per_thread", lambda v: v >= 128, "occupancy_limited_registers", 0.15),
    ("global_atomics", lambda v: v >= 1000, "atomic_contention", 0.25),
    ("l2_atomic_max_pct", lambda v: v >= 40, "atomic_contention", 0.4),
    ("l2_hit_pct", lambda v: v < 50, "low_l2_hit_rate", 0.25),
    ("lts_read_hit_pct", lambda v: v < 50, "low_l2_hit_rate", 0.25),
    ("eligible_warps", lambda v: v < 1, "low_eligible_warps", 0.25),
    ("eligible_per_scheduler", lambda v: v < 1, "low_eligible_warps", 0.25),
    ("no_eligible_pct", lambda v: v > 60, "low_eligible_warps", 0.25),
    ("issue_active_pct", lambda v: v < 40, "low_eligible_warps", 0.2),
    ("ipc_active", lambda v: v < 1, "low_eligible_warps", 0.2),
    ("waves_per_sm", lambda v: v < 1, "small_grid", 0.4),
    ("grid_size", lambda v: v < 64, "small_grid", 0.4),
    ("block_size", lambda v: v <= 64, "occupancy_limited_block_size", 0.25),
    ("achieved_occupancy_pct", lambda v: v < 35, "achieved_occupancy_low", 0.2),
    ("branch_efficiency_pct", lambda v: v < 90, "thread_divergence", 0.3),
    ("lane_utilization_pct", lambda v: v < 75, "thread_divergence", 0.3),
    ("threads_per_instruction", lambda v: v < 24, "thread_divergence", 0.3),
    ("unpredicated_threads_per_instruction", lambda v: v < 24, "predicated_off_threads", 0.25),
    ("fp64_pct", lambda v: v >= 15, "unintended_fp64", 0.3),
    ("fp32_nonfused_ops", lambda v: v > 0, "non_fused_arithmetic", 0.1),
    ("kernel_count", lambda v: v >= 5, "many_small_kernels", 0.4),
    ("imc_hit_pct", lambda v: v < 90, "imc_miss_stall", 0.2),
    ("icache_hit_pct", lambda v: v < 90, "no_instruction_stall", 0.2),
    ("mufu_ops", lambda v: v > 0, "xu_pipe_saturated", 0.1),
    ("sm_active_min_pct", lambda v: v < 60, "workload_imbalance", 0.3),
)

NOT_STALLS: Final = frozenset({"selected", "not_selected", "misc", "sleeping", "dispatch_stall"})
STALL_CYCLES: Final = 2.0
"""Cycles per issued instruction from which a stall alone is worth a word."""


def clues_from_numbers(metrics: Metrics, family: str | None) -> tuple[Clue, ...]:
    """Clues, strongest first; one per symptom."""
    found: dict[str, Clue] = {}

    def add(symptom: str, share: float, why: str) -> None:
        if symptom not in found or found[symptom].share < share:
            found[symptom] = Clue(symptom=symptom, share=share, why=why)

    for metric, test, symptom, share in _SINGLE:
        value = metrics.get(metric)
        if value is not None and test(value):
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
        if share >= 0.3 and value >= (0 if total else STALL_CYCLES):
            symptom = f"{name.removeprefix('stall_')}_stall"
            found.append((symptom, min(0.45, 0.6 * share), f"{name} is {value:g}"))
    return found


def _occupancy(metrics: Metrics) -> list[tuple[str, float, str]]:
    """The limit that a low theoretical occupancy comes from, where one is in sight."""
    value = metrics.get("theoretical_occupancy_pct", metrics.get("achieved_occupancy_pct"))
    if value is None or value > 50:
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
    if metrics.get("registers_per_thread", 0) > 64:
        found.append(("occupancy_limited_registers", 0.25, f"{why} with many registers"))
    if metrics.get("shared_bytes_per_block", 0) > 48 * 1024:
        found.append(("occupancy_limited_shared", 0.25, f"{why} with much shared memory"))
    return found


def _matrix(metrics: Metrics, family: str | None) -> list[tuple[str, float, str]]:
    tensor = metrics.get("tensor_pct")
    if tensor is None or family not in MATRIX_FAMILIES:
        return []
    if tensor < 1:
        return [("tensor_cores_idle", 0.5, f"tensor_pct is {tensor:g} in a {family} kernel")]
    if tensor < 70:
        share = 0.6 * (1 - tensor / 100)
        return [("tensor_pipe_underfed", share, f"tensor_pct is {tensor:g} in a {family} kernel")]
    return []


def _throughput(metrics: Metrics) -> list[tuple[str, float, str]]:
    """Only the speed-of-light totals are known."""
    memory = metrics.get("memory_pct", metrics.get("memory_busy_pct"))
    if memory is None or memory < 60 or memory - metrics.get("compute_pct", 0) < 10:
        return []
    if any(name in metrics for name in ("dram_pct", "l1_pct", "l2_pct")):
        return []
    why = f"memory throughput is {memory:g} %"
    return [("dram_bandwidth_saturated", 0.3, why), ("excess_dram_traffic", 0.25, why)]
