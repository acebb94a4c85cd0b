"""Profilers behind one port: Nsight Compute, rocprofv3, and none."""

from __future__ import annotations

from kbs_backends.profilers.base import Profiler, Report, Target
from kbs_backends.profilers.counter_free import CounterFree
from kbs_backends.profilers.ncu import NcuProfiler
from kbs_backends.profilers.rocprof import RocprofProfiler

__all__ = [
    "CounterFree",
    "NcuProfiler",
    "Profiler",
    "Report",
    "RocprofProfiler",
    "Target",
    "choose_profiler",
]


def choose_profiler(*, vendor: str, counters: bool, why_not: str = "") -> Profiler:
    """The profiler for a machine: ``vendor`` nvidia or amd; counter-free without counters."""
    if not counters:
        return CounterFree(why=why_not)
    return RocprofProfiler() if vendor == "amd" else NcuProfiler()
