"""Plain baselines: speed-of-light thresholds, and the largest-gap formula of earlier tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kbs_engine.evaluation.claims import Claim

BUSY_PCT: Final = 60.0
MARGIN_PCT: Final = 10.0
NEAR_GAP: Final = 0.15
UNKNOWN_GAP: Final = 0.5
NO_CAUSE: Final = frozenset({"selected", "not_selected"})

MEMORY_UNITS: Final[dict[str, str]] = {
    "dram_pct": "dram_bandwidth_saturated",
    "l2_pct": "l2_bandwidth_saturated",
    "l1_pct": "l1_throughput_saturated",
    "shared_pct": "shared_throughput_saturated",
    "tma_pct": "tma_pipe_saturated",
}
COMPUTE_UNITS: Final[dict[str, str]] = {
    "tensor_pct": "",  # a full tensor pipe is no symptom, it is the compute roof
    "fma_pct": "fma_pipe_saturated",
    "alu_pct": "alu_pipe_saturated",
    "xu_pct": "xu_pipe_saturated",
    "fp64_pct": "fp64_pipe_saturated",
    "issue_active_pct": "issue_slots_saturated",
}


def thresholds(metrics: Mapping[str, float]) -> tuple[Claim, ...]:
    """Speed of light alone: the larger of memory and compute, or latency when both idle.

    60 % and a margin of ten points are those of Nsight's SOLBottleneck rule. The claims are the
    busiest units of the axis, busiest first. Balanced kernels (both over 60 %, within the
    margin) claim both axes. Severity is what is left up to the peak of the busiest unit.
    """
    memory, compute = metrics.get("memory_pct"), metrics.get("compute_pct")
    if memory is None or compute is None:
        return ()
    severity = max(0.0, 1 - max(memory, compute) / 100)
    if max(memory, compute) < BUSY_PCT:
        # no unit is full, so no unit's symptom fits; what latency-bound means is too few
        # warps that can issue
        return (
            Claim(
                says="latency", ids=("low_eligible_warps",), axes=("latency",), severity=severity
            ),
        )
    if memory - compute >= MARGIN_PCT:
        return _units(metrics, MEMORY_UNITS, ("memory",), severity)
    if compute - memory >= MARGIN_PCT:
        return _units(metrics, COMPUTE_UNITS, ("compute",), severity)
    both = {**MEMORY_UNITS, **COMPUTE_UNITS}
    return _units(metrics, both, ("memory", "compute"), severity)


def _units(
    metrics: Mapping[str, float], units: Mapping[str, str], axes: tuple[str, ...], severity: float
) -> tuple[Claim, ...]:
    busy = sorted(
        ((metrics[name], name) for name in units if name in metrics),
        key=lambda row: (-row[0], row[1]),
    )
    claims = [
        Claim(
            says=f"{name} {value:.0f}",
            ids=(units[name],) if units[name] else (),
            axes=axes,
            severity=severity,
        )
        for value, name in busy
    ]
    return tuple(claims) or (Claim(says=" or ".join(axes), ids=(), axes=axes, severity=severity),)


def largest_gap(metrics: Mapping[str, float]) -> tuple[Claim, ...]:
    """The formula of earlier tools: the axis that is furthest from its peak is the bottleneck.

    Δc = 1 - max(tensor, FP32, SM throughput), Δm = 1 - DRAM (or memory) throughput, Δl = the
    largest stall share of warp cycles, 0.5 where it was not measured; all 0.5 where neither
    throughput was. Near peak when all three are under 0.15. Ties: memory, latency, compute.
    """
    stall, latency = _largest_stall(metrics)
    compute = [(metrics[n], n) for n in ("tensor_pct", "fma_pct", "compute_pct") if n in metrics]
    memory = metrics.get("dram_pct", metrics.get("memory_pct"))
    if not compute or memory is None:
        gaps = {"memory": UNKNOWN_GAP, "latency": UNKNOWN_GAP, "compute": UNKNOWN_GAP}
    else:
        gaps = {
            "memory": 1 - memory / 100,
            "latency": latency,
            "compute": 1 - max(compute)[0] / 100,
        }
    if all(gap < NEAR_GAP for gap in gaps.values()):
        return ()
    tensor = bool(compute) and max(compute)[1] == "tensor_pct"
    ids = {
        "memory": ("dram_bandwidth_saturated",),
        "latency": (f"{stall}_stall",) if stall else ("low_eligible_warps",),
        "compute": ("tensor_pipe_underfed",) if tensor else ("fma_pipe_saturated",),
    }
    ranked = sorted(gaps.items(), key=lambda row: -row[1])  # stable: ties keep the order above
    return tuple(
        Claim(
            says=f"{axis} gap {gap:.2f}",
            ids=ids[axis],
            axes=(axis,),
            severity=min(max(gap, 0.0), 1.0),
        )
        for axis, gap in ranked
    )


def _largest_stall(metrics: Mapping[str, float]) -> tuple[str, float]:
    """Reason and share of warp cycles of the largest stall; 0.5 where unknown."""
    total = metrics.get("warp_cycles_per_issue")
    stalls = {
        name.removeprefix("stall_"): value
        for name, value in metrics.items()
        if name.startswith("stall_") and name.removeprefix("stall_") not in NO_CAUSE
    }
    if not stalls or not total:
        return "", UNKNOWN_GAP
    reason = max(stalls, key=lambda name: (stalls[name], name))
    return reason, min(stalls[reason] / total, 1.0)
