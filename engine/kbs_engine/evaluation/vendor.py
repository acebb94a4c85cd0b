"""What Nsight Compute's own rules say, in symptom ids, so that they can be scored like ours.

The mapping is generous: where the words of a rule fit several symptoms, each of them counts.
``names`` is what the rule measured and states. ``hints`` are further causes that its text tells
the reader to look for; they count in the lenient reading alone (``vendor_any``), because the
rule prints them whatever the kernel does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from kbs_engine.evaluation.claims import Claim
from kbs_engine.profiles import VendorRule

TOP: Final = 3


class Meaning(NamedTuple):
    """What a rule says when title or message match ``pattern``."""

    rule: str
    """Rule identifiers, as a regular expression; empty for any."""
    pattern: str
    axes: tuple[str, ...]
    names: tuple[str, ...]
    hints: tuple[str, ...] = ()


_PIPES: Final = (
    "fma_pipe_saturated", "alu_pipe_saturated", "xu_pipe_saturated", "fp64_pipe_saturated",
)  # fmt: skip
_LOADS: Final = ("uncoalesced_global_load", "narrow_global_access")
_STORES: Final = ("uncoalesced_global_store", "partial_sector_writes", "narrow_global_access")

MEANINGS: Final[tuple[Meaning, ...]] = (
    # -- warp states: one reason is over 30 % of the cycles between two issues
    # waits for L1TEX data; the text asks for access patterns, cache hits and shared memory
    Meaning("CPIStall", r"long.?scoreboard|scoreboard dependency on a L1TEX",
            ("latency", "memory"), ("long_scoreboard_stall",),
            ("uncoalesced_global_load", "low_l1_reuse", "low_l2_hit_rate")),
    # waits for the MIO unit: shared memory, special functions
    Meaning("CPIStall", r"short.?scoreboard|scoreboard dependency on a MIO",
            ("latency", "memory"), ("short_scoreboard_stall",),
            ("shared_bank_conflicts", "shared_throughput_saturated", "xu_pipe_saturated")),
    # the queue to shared memory, special functions and branches is full
    Meaning("CPIStall", r"MIO.?throttle|MIO \(memory input/output\) instruction queue",
            ("latency", "memory"), ("mio_throttle_stall",),
            ("shared_bank_conflicts", "shared_throughput_saturated", "xu_pipe_saturated")),
    # the queue of local and global memory is full; wider accesses and fewer spills are named
    Meaning("CPIStall", r"LG.?throttle|local and global \(LG\) memory",
            ("latency", "memory"), ("lg_throttle_stall",),
            ("narrow_global_access", "register_spills", "uncoalesced_global_load",
             "uncoalesced_global_store")),
    Meaning("CPIStall", r"tex.?throttle", ("latency", "memory"), ("tex_throttle_stall",)),
    # an execution pipe is not free: the pipe is full
    Meaning("CPIStall", r"math.?pipe.?throttle|execution pipe to be available",
            ("latency", "compute"), ("math_pipe_throttle_stall", *_PIPES)),
    # sibling warps are late at a block barrier
    Meaning("CPIStall", r"barrier stall|sibling warps at a CTA barrier",
            ("latency",), ("barrier_stall",), ("workload_imbalance", "thread_divergence")),
    Meaning("CPIStall", r"membar|memory barrier", ("latency", "memory"), ("membar_stall",),
            ("atomic_contention",)),
    # fixed-latency dependencies: highly optimized kernels, or too little independent work
    Meaning("CPIStall", r"\bwait stall|fixed latency execution dependency",
            ("latency",), ("wait_stall",)),
    Meaning("CPIStall", r"branch.?resolving|branch target to be computed",
            ("latency", "compute"), ("branch_resolving_stall",), ("thread_divergence",)),
    Meaning("CPIStall", r"no.?instructions?\b|instruction cache miss",
            ("latency",), ("no_instruction_stall",)),
    Meaning("CPIStall", r"\bdrain|memory instructions to complete", ("latency", "memory"),
            ("drain_stall",), ("uncoalesced_global_store", "exposed_epilogue")),
    Meaning("CPIStall", r"IMC.?miss|immediate constant cache", ("latency",), ("imc_miss_stall",)),
    Meaning("CPIStall", r"GMMA", ("latency", "compute"), ("gmma_stall",),
            ("tensor_pipe_underfed",)),
    Meaning("CPIStall", r"dispatch.?stall|sleeping|not.?selected|misc", ("latency",), ()),
    # -- schedulers: fewer than 0.6 issued warps per scheduler and cycle
    Meaning("IssueSlotUtilization", r"", ("latency",), ("low_eligible_warps",),
            ("workload_imbalance",)),
    # -- occupancy: theoretical under 80 %, by the limit that the text names
    Meaning("TheoreticalOccupancy|Occupancy", r"number of required registers",
            ("latency",), ("occupancy_limited_registers",), ("register_spills",)),
    Meaning("TheoreticalOccupancy|Occupancy", r"shared memory",
            ("latency",), ("occupancy_limited_shared",), ("shared_capacity_wasted",)),
    Meaning("TheoreticalOccupancy|Occupancy",
            r"number of warps within each block|number of blocks that can fit|block size",
            ("latency",), ("occupancy_limited_block_size",)),
    # achieved over ten points under theoretical: scheduling overhead or imbalance
    Meaning("AchievedOccupancy|Occupancy", r"achieved occupancy",
            ("latency",), ("achieved_occupancy_low", "workload_imbalance"), ("tail_effect",)),
    # -- launch
    Meaning("LaunchConfiguration|SOLBottleneck", r"small grid|grid for this launch is configured",
            ("latency",), ("small_grid",), ("launch_overhead_dominates",)),
    Meaning("LaunchConfiguration", r"tail effect|partial wave", ("latency",), ("tail_effect",)),
    # threads per block no multiple of 32: lanes that never work
    Meaning("LaunchConfiguration", r"multiple of 32|block size",
            ("latency", "compute"), ("predicated_off_threads", "thread_divergence",
                                     "occupancy_limited_block_size")),
    Meaning("WorkloadImbalance", r"", ("latency",), ("workload_imbalance",),
            ("tail_effect", "small_grid")),
    # -- memory
    # sectors beyond the ideal of the same threads; loads and stores are not told apart
    Meaning("UncoalescedGlobalAccess|UncoalescedAccess", r"", ("memory",),
            ("uncoalesced_global_load", "uncoalesced_global_store", "partial_sector_writes")),
    Meaning("UncoalescedSharedAccess|SharedMemoryConflicts", r"", ("memory",),
            ("shared_bank_conflicts",)),
    # bytes used per sector, by space and direction
    Meaning("MemoryCacheAccessPattern", r"local (load|store)", ("memory",), ("register_spills",)),
    Meaning("MemoryCacheAccessPattern", r"global load|load access pattern", ("memory",), _LOADS,
            ("low_l1_reuse",)),
    Meaning("MemoryCacheAccessPattern", r"global store|store access pattern", ("memory",), _STORES),
    # DRAM sectors that L2 read beyond what was asked: strides of 64 bytes and more
    Meaning("", r"DRAM excessive read sectors", ("memory",),
            ("excess_dram_traffic", "uncoalesced_global_load", "low_l2_hit_rate")),
    # memory that could be compressed: fewer bytes to L2 and DRAM, no pattern is named
    Meaning("MemoryL2Compression", r"", ("memory",),
            ("dram_bandwidth_saturated", "l2_bandwidth_saturated"), ("excess_dram_traffic",)),
    Meaning("MemoryApertureUsage", r"", ("memory",), ()),
    Meaning("", r"register spill|spilling", ("memory",), ("register_spills",)),
    # -- arithmetic
    Meaning("FPInstructions", r"", ("compute",), ("non_fused_arithmetic",)),
    Meaning("ThreadDivergence", r"", ("compute", "latency"),
            ("thread_divergence", "predicated_off_threads")),
    Meaning("SOLFPRoofline", r"double|FP64", ("compute",),
            ("unintended_fp64", "fp64_pipe_saturated")),
    # a pipe at 60 % and more; the text names it
    Meaning("HighPipeUtilization|SlowPipeLimiter", r"under-?utilized|low utilization",
            ("latency",), ("low_eligible_warps", "small_grid")),
    Meaning("HighPipeUtilization|SlowPipeLimiter",
            r"(Tensor\b.{0,12} is the highest|dominated by its Tensor)",
            ("compute",), ()),
    Meaning("HighPipeUtilization|SlowPipeLimiter", r"FP64.{0,20} is the (highest|slow)",
            ("compute",), ("fp64_pipe_saturated", "unintended_fp64")),
    Meaning("HighPipeUtilization|SlowPipeLimiter", r"FMA.{0,20} is the highest",
            ("compute",), ("fma_pipe_saturated", "tensor_cores_idle")),
    Meaning("HighPipeUtilization|SlowPipeLimiter", r"ALU.{0,20} is the highest",
            ("compute",), ("alu_pipe_saturated", "division_heavy", "conversion_overhead")),
    Meaning("HighPipeUtilization|SlowPipeLimiter", r"XU.{0,20} is the (highest|slow)",
            ("compute",), ("xu_pipe_saturated", "division_heavy", "conversion_overhead")),
    Meaning("HighPipeUtilization|SlowPipeLimiter", r"LSU.{0,20} is the highest",
            ("memory",), ("l1_throughput_saturated", "narrow_global_access",
                          "shared_throughput_saturated")),
    Meaning("HighPipeUtilization|SlowPipeLimiter", r"TMA.{0,20} is the highest",
            ("memory",), ("tma_pipe_saturated",)),
    # -- speed of light: an axis, rarely a cause
    Meaning("SOLBottleneck", r"latency issue|latency issues", ("latency",),
            ("low_eligible_warps",)),
    Meaning("SOLBottleneck", r"analyzing DRAM|identify the DRAM bottleneck", ("memory",),
            ("dram_bandwidth_saturated",), ("uncoalesced_global_load", "excess_dram_traffic")),
    Meaning("SOLBottleneck", r"analyzing L2|identify the L2 bottleneck", ("memory",),
            ("l2_bandwidth_saturated",)),
    Meaning("SOLBottleneck", r"analyzing L1|identify the L1 bottleneck", ("memory",),
            ("l1_throughput_saturated",)),
    Meaning("SOLBottleneck", r"compute workload analysis", ("compute",), ()),
)  # fmt: skip
"""First of a rule that fits wins, except for occupancy, where a text may name several limits."""

_SEVERAL: Final = re.compile(r"Occupancy")


def meanings(rule: VendorRule) -> tuple[Meaning, ...]:
    """What a rule says; empty when it says nothing of a cause."""
    text = f"{rule.title} {rule.message}"
    found = [
        meaning
        for meaning in MEANINGS
        if (not meaning.rule or re.fullmatch(meaning.rule, rule.rule))
        and re.search(meaning.pattern, text, re.IGNORECASE)
    ]
    return tuple(found) if _SEVERAL.search(rule.rule) else tuple(found[:1])


def vendor_claims(rules: Sequence[VendorRule]) -> tuple[Claim, ...]:
    """Rules of global scope by estimated speed-up, ties in the order of the report."""
    ranked = [rule for rule in _by_estimate(rules) if rule.scope == "global"]
    return tuple(_claim(rule, lenient=False) for rule in ranked)


def vendor_any_claims(rules: Sequence[VendorRule]) -> tuple[Claim, ...]:
    """The most lenient reading: the three largest estimates of any scope as one claim.

    Hints of the text count too. It is right when anything in these rules fits.
    """
    first = [_claim(rule, lenient=True) for rule in _by_estimate(rules)[:TOP]]
    if not first:
        return ()
    return (
        Claim(
            says="; ".join(claim.says for claim in first),
            ids=tuple(dict.fromkeys(name for claim in first for name in claim.ids)),
            axes=tuple(dict.fromkeys(axis for claim in first for axis in claim.axes)),
            severity=max(claim.severity for claim in first),
        ),
    )


def _by_estimate(rules: Sequence[VendorRule]) -> list[VendorRule]:
    estimated = [rule for rule in rules if rule.estimated_speedup_pct]
    return sorted(estimated, key=lambda rule: -(rule.estimated_speedup_pct or 0.0))


def _claim(rule: VendorRule, *, lenient: bool) -> Claim:
    said = meanings(rule)
    ids = [name for meaning in said for name in meaning.names]
    if lenient:
        ids += [name for meaning in said for name in meaning.hints]
    title = f": {rule.title}" if rule.title else ""
    return Claim(
        says=f"{rule.rule}{title} (est. {rule.estimated_speedup_pct or 0:.1f} %)",
        ids=tuple(dict.fromkeys(ids)),
        axes=tuple(dict.fromkeys(axis for meaning in said for axis in meaning.axes)),
        severity=min(max((rule.estimated_speedup_pct or 0.0) / 100, 0.0), 1.0),
    )
