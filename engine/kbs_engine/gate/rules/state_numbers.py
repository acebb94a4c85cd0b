"""state.json and the memory record repeat what was measured, and nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.benches import compare_arms
from kbs_engine.run.measured import Bench, StatedComparison
from kbs_engine.run.memories import Memory
from kbs_engine.shell import shell

_CLOSE = 1e-6
_TIMES = re.compile(r"\d[\d.,]* times|\d[\d.,]*\s*[×x]")


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a headline that bench.json does not give."""
    bench = context.version.bench
    own = bench.own() if bench else None
    state = context.run.paths.state
    entry = context.state.version(context.number)
    if entry is None:
        yield context.refuse("state_numbers", state, f"knows no v{context.number}", context.resume)
        return
    if entry.sha256 and context.kernel_sha256 and entry.sha256 != context.kernel_sha256:
        yield context.refuse(
            "state_numbers", state, f"names another kernel for v{context.number}", context.resume
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
            context.resume,
        )
    yield from _tolerance(context)
    yield from _speedup(context)
    yield from _memory(context)
    yield from _experiments(context)
    if context.number == 0:
        yield from _strangers(context)
        yield from _best(context)


def _tolerance(context: GateContext) -> Iterator[Refusal]:
    """The tolerance that README and requests name is the one of this epoch's checks."""
    bench, entry = context.version.bench, context.version.entry
    checked = bench.checked() if bench else None
    stated = context.state.tolerance
    if checked is None or entry is None or stated is None or entry.epoch != context.state.epoch:
        return
    if (stated.atol, stated.rtol) != (checked.atol, checked.rtol):
        yield context.refuse(
            "state_numbers",
            context.run.paths.state,
            f"names the tolerance {stated}; v"
            f"{context.number} was checked with atol {checked.atol}, rtol {checked.rtol}",
            context.resume,
        )


def _best(context: GateContext) -> Iterator[Refusal]:
    """The best version is a correct one, and the one that the benchmark was made of."""
    state, view = context.state, context.view
    path, best = context.run.paths.state, view.version(state.best_version)
    if best is None or best.bench is None or not best.bench.correct:
        if best is not None or state.versions:
            yield context.refuse(
                "state_numbers", path, f"calls v{state.best_version} the best version; "
                "no correct measurement of it stands here", context.resume,
            )  # fmt: skip
        return
    own = best.bench.own()
    if own and state.best_ns is not None and not _close(state.best_ns, own.median_ns):
        yield context.refuse(
            "state_numbers", path, f"best_ns is {state.best_ns:.6g}; v{state.best_version} has "
            f"{own.median_ns:.6g}", context.resume,
        )  # fmt: skip
    made = view.benchmark
    if made is not None and state.ended and made.source_sha256 != best.bench.source_sha256:
        yield context.refuse(
            "state_numbers", path, f"calls v{state.best_version} the best version; the final "
            f"benchmark is of v{made.version}", context.resume,
        )  # fmt: skip


def _strangers(context: GateContext) -> Iterator[Refusal]:
    """A memory record of a version that the run does not have would be planned from."""
    folder = context.run.paths.memory
    known = {row.version for row in context.state.versions}
    for number in Memory(folder).versions() if folder.is_dir() else ():
        if number not in known:
            yield context.refuse(
                "state_numbers", context.run.paths.memory_record(number),
                "is a record of a version that the run does not have", "remove it",
            )  # fmt: skip


def _experiments(context: GateContext) -> Iterator[Refusal]:
    """What the memory says of a method is what attribution.json says of it."""
    record, stated = context.version.memory, context.version.attribution
    if record is None or stated is None:
        return
    rows = {row.method: row for row in stated.methods}
    path = context.run.paths.memory_record(context.number)
    silent = rows.keys() - {told.method for told in record.experience.experiments}
    for method in sorted(silent):
        yield context.refuse(
            "state_numbers",
            path,
            f"says nothing of {method}; attribution.json does",
            context.resume,
        )
    for told in record.experience.experiments:
        row = rows.get(told.method)
        if row is None:
            continue
        fields = (
            ("verdict", told.verdict, row.verdict), ("gain", told.gain, row.gain),
            ("gain_low", told.gain_low, row.low), ("gain_high", told.gain_high, row.high),
        )  # fmt: skip
        for name, one, two in fields:
            if one != two:
                yield context.refuse(
                    "state_numbers",
                    path,
                    f"says {name} {one} of {told.method}; attribution.json has {two}",
                    context.resume,
                )


def _speedup(context: GateContext) -> Iterator[Refusal]:
    """A speedup over v0 and its interval are the comparison with v0 that stands in bench.json."""
    bench, entry = context.version.bench, context.state.version(context.number)
    if bench is None or entry is None or context.number == 0:
        return
    row = _over_v0(context, bench)
    given = (None, None, None) if row is None else (row.ratio, row.low, row.high)
    names = ("speedup_v0", "speedup_v0_low", "speedup_v0_high")
    stated = zip(names, (getattr(entry, name) for name in names), given, strict=True)
    for name, one, two in stated:
        if one is None or (two is not None and _close(one, two)):
            continue
        yield context.refuse(
            "state_numbers",
            context.run.paths.state,
            f"{name} of v{context.number} is {one:.6g}; bench.json has "
            + ("no comparison with v0" if two is None else f"{two:.6g}"),
            context.resume,
        )


def _over_v0(context: GateContext, bench: Bench) -> StatedComparison | None:
    """The comparison with v0; of v0 measured again beside itself, its two arms'."""
    if bench.source_sha256 != context.state.baseline_sha256:
        return bench.comparison(bench.source_sha256, context.state.baseline_sha256)
    timed = bench.timed()
    arms = timed.arms if timed else ()
    mine = [i for i, arm in enumerate(arms) if arm.sha256 == bench.source_sha256]
    if timed is None or len(mine) < 2:  # noqa: PLR2004 - a comparison is of two
        return None
    return compare_arms(timed, mine[0], mine[-1], context.settings.noise)


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
            context.resume,
        )
    own, latency = bench.own(), record.performance.latency_us
    told = "no time" if latency is None else f"{latency:.6g} µs"
    if own is not None and (latency is None or not _close(latency * 1e3, own.median_ns)):
        yield context.refuse(
            "state_numbers",
            path,
            f"says {told}; bench.json has {own.median_ns / 1e3:.6g} µs",
            context.resume,
        )
    compared = record.performance.comparison_with_previous
    given = {
        f"{row.ratio:.3f} times as fast, 95 % interval {row.low:.3f} to {row.high:.3f}"
        for row in bench.comparisons
    }
    if _TIMES.search(compared) and not any(text in compared for text in given):
        yield context.refuse(
            "state_numbers",
            path,
            f"says {compared!r}; bench.json has no such comparison",
            context.resume,
        )
    if record.masked and context.number in (0, context.state.best_version):
        root = shell(context.run.root)
        yield context.refuse(
            "state_numbers",
            path,
            "is masked: v0 and the best version never are",
            f"`kbs memory unmask {root} {context.number}`",
        )


def _close(one: float, two: float) -> bool:
    return math.isclose(one, two, rel_tol=_CLOSE)


RULE = Rule(
    id="state_numbers",
    title="Headlines",
    refuses="A time, a speedup, a kernel, a best version or a correctness verdict in state.json "
    "or in the memory record that bench.json does not give, or a time that it gives and the record "
    "does not; a verdict or gain in the memory record that attribution.json does not give, or a "
    "method of it left out; a masked record of v0 or the best; a memory record of a version that "
    "the run does not have.",
    check=check,
    every=True,
)
