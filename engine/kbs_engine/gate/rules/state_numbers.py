"""state.json and the memory record repeat what was measured, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule

_CLOSE = 1e-6
_RESUME = "run `kbs loop resume`, which writes it again from what was measured"


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a headline that bench.json does not give."""
    bench = context.version.bench
    own = bench.own() if bench else None
    state = context.run.paths.state
    entry = context.state.version(context.number)
    if entry is None:
        yield context.refuse("state_numbers", state, f"knows no v{context.number}", _RESUME)
        return
    if entry.sha256 and context.kernel_sha256 and entry.sha256 != context.kernel_sha256:
        yield context.refuse(
            "state_numbers", state, f"names another kernel for v{context.number}", _RESUME
        )
    if (
        own is not None
        and entry.median_ns is not None
        and not _close(entry.median_ns, own.median_ns)
    ):
        yield context.refuse(
            "state_numbers",
            state,
            f"median_ns of v{context.number} is {entry.median_ns:.6g}; bench.json has "
            f"{own.median_ns:.6g}",
            _RESUME,
        )
    yield from _speedup(context)
    yield from _memory(context)


def _speedup(context: GateContext) -> Iterator[Refusal]:
    """A speedup over v0 is the comparison with v0 that stands in bench.json, where one does."""
    bench, entry = context.version.bench, context.state.version(context.number)
    if bench is None or entry is None or entry.speedup_v0 is None or context.number == 0:
        return
    row = bench.comparison(bench.source_sha256, context.state.baseline_sha256)
    if row is not None and not _close(entry.speedup_v0, row.ratio):
        yield context.refuse(
            "state_numbers",
            context.run.paths.state,
            f"speedup_v0 of v{context.number} is {entry.speedup_v0:.6g}; bench.json has "
            f"{row.ratio:.6g}",
            _RESUME,
        )


def _memory(context: GateContext) -> Iterator[Refusal]:
    record, bench = context.version.memory, context.version.bench
    path = context.run.paths.memory_record(context.number)
    if record is None or bench is None:
        return
    if (record.correctness.status == "PASS") != bench.correct:
        yield context.refuse(
            "state_numbers",
            path,
            f"says correctness {record.correctness.status}; bench.json says otherwise",
            _RESUME,
        )
    own, latency = bench.own(), record.performance.latency_us
    if own is not None and latency is not None and not _close(latency * 1e3, own.median_ns):
        yield context.refuse(
            "state_numbers",
            path,
            f"says {latency:.6g} µs; bench.json has {own.median_ns / 1e3:.6g}",
            _RESUME,
        )


def _close(one: float, two: float) -> bool:
    return math.isclose(one, two, rel_tol=_CLOSE)


RULE = Rule(
    id="state_numbers",
    title="Headlines",
    refuses="A time, a speedup, a kernel or a correctness verdict in state.json or in the memory "
    "record that bench.json does not give.",
    check=check,
    every=True,
)
