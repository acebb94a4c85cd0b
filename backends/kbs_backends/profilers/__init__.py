"""Profilers behind one port: Nsight Compute, rocprofv3, and none."""

from __future__ import annotations

from kbs_backends.profilers.base import Ahead, Finished, Profiler, Report, Target, ToolStart, Turn
from kbs_backends.profilers.counter_free import CounterFree
from kbs_backends.profilers.ncu import NcuProfiler
from kbs_backends.profilers.rocprof import RocprofProfiler

__all__ = [
    "Ahead",
    "CounterFree",
    "Finished",
    "NcuProfiler",
    "Profiler",
    "Report",
    "RocprofProfiler",
    "Target",
    "ToolStart",
    "Turn",
    "choose_profiler",
]


def choose_profiler(
    *,
    vendor: str,
    counters: bool,
    why_not: str = "",
    ahead: Ahead | None = None,
    turn: Turn | None = None,
) -> Profiler:
    """The profiler for a machine: ``vendor`` nvidia or amd; counter-free without counters.

    ``ahead`` and ``turn`` are of NVIDIA's alone.
    """
    if not counters:
        return CounterFree(why=why_not)
    return RocprofProfiler() if vendor == "amd" else NcuProfiler(ahead=ahead, turn=turn)
