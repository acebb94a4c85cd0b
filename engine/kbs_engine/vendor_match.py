"""Which of Nsight Compute's own rules speak of a symptom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kbs_engine.recommendations import KernelDiagnosis

_RULES_OF: Final[dict[str, tuple[str, ...]]] = {
    "uncoalesced_global_load": ("UncoalescedGlobalAccess", "MemoryCacheAccessPattern"),
    "uncoalesced_global_store": ("UncoalescedGlobalAccess", "MemoryCacheAccessPattern"),
    "partial_sector_writes": ("MemoryCacheAccessPattern",),
    "shared_bank_conflicts": ("SharedMemoryConflicts", "UncoalescedSharedAccess"),
    "thread_divergence": ("ThreadDivergence",),
    "predicated_off_threads": ("ThreadDivergence",),
    "small_grid": ("LaunchConfiguration",),
    "tail_effect": ("LaunchConfiguration",),
    "workload_imbalance": ("WorkloadImbalance",),
    "achieved_occupancy_low": ("AchievedOccupancy",),
    "occupancy_limited_registers": ("TheoreticalOccupancy",),
    "occupancy_limited_shared": ("TheoreticalOccupancy",),
    "occupancy_limited_block_size": ("TheoreticalOccupancy",),
    "low_eligible_warps": ("IssueSlotUtilization",),
    "non_fused_arithmetic": ("FPInstructions",),
    "unintended_fp64": ("SOLFPRoofline",),
    "dram_bandwidth_saturated": ("SOLBottleneck",),
    "fma_pipe_saturated": ("HighPipeUtilization",),
    "alu_pipe_saturated": ("HighPipeUtilization",),
    "xu_pipe_saturated": ("HighPipeUtilization",),
    "fp64_pipe_saturated": ("HighPipeUtilization",),
}
"""Nsight Compute rules that speak of a symptom."""


def rules_behind(diagnosis: KernelDiagnosis, hits: Sequence[str]) -> tuple[str, ...]:
    """Rules of the report that speak of the symptoms ``hits``, with their estimate."""
    wanted = {rule for name in hits for rule in _RULES_OF.get(name, ())}
    if any(name.endswith("_stall") for name in hits):
        wanted.add("CPIStall")
    found = []
    for rule in diagnosis.vendor_rules:
        if rule.rule in wanted and rule.estimated_speedup_pct is not None:
            title = f": {rule.title}" if rule.title else ""
            found.append(f"{rule.rule}{title} (est. {rule.estimated_speedup_pct:.1f} %)")
    return tuple(dict.fromkeys(found))
