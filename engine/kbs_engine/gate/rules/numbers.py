"""Stated times and comparisons are computed again from the raw samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kbs_engine.errors import MeasurementError
from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.benches import comparisons, summaries
from kbs_engine.run.measured import Bench, StatedComparison

SAME = 1e-6
"""Relative difference that another build of the arithmetic may make."""


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a stated number that its samples do not give."""
    for path, bench in context.benches():
        yield from check_bench(context, path, bench)


def check_bench(context: GateContext, path: Path, bench: Bench) -> Iterator[Refusal]:
    """The numbers of one bench."""
    timed = bench.timed()
    try:
        arms = tuple(summaries(timed)) if timed else ()
    except MeasurementError as problem:
        yield context.refuse_measured("numbers", path, f"has samples that are no times: {problem}")
        return
    stated = {(arm.name, arm.sha256): arm for arm in bench.arms}
    found = {(arm.name, arm.sha256): arm for arm in arms}
    for key in stated.keys() - found.keys():
        yield context.refuse_measured("numbers", path, f"states times of {key[0]} without samples")
    for key in found.keys() - stated.keys():
        yield context.refuse_measured("numbers", path, f"leaves out the times of {key[0]}")
    for key in stated.keys() & found.keys():
        for field in differing(stated[key], found[key]):
            yield context.refuse_measured(
                "numbers", path, _told(key[0], field, stated[key], found[key])
            )
    if timed is None or not bench.correct:
        return
    again = tuple(comparisons(timed, bench.source_sha256, context.settings.noise))
    yield from _compared(context, path, bench.comparisons, again)


def _compared(
    context: GateContext,
    path: Path,
    stated: tuple[StatedComparison, ...],
    again: tuple[StatedComparison, ...],
) -> Iterator[Refusal]:
    found = {(row.a, row.b): row for row in again}
    for row in stated:
        other = found.get((row.a, row.b))
        if other is None:
            yield context.refuse_measured(
                "numbers", path, f"compares arms that never took turns ({row.b[:12]})"
            )
            continue
        for field in differing(row, other):
            yield context.refuse_measured(
                "numbers", path, _told(f"against {row.b[:12]}", field, row, other)
            )


def differing(stated: msgspec.Struct, again: msgspec.Struct) -> Iterator[str]:
    """Names of the fields in which two records differ by more than rounding."""
    for name in stated.__struct_fields__:
        one, two = getattr(stated, name), getattr(again, name)
        if isinstance(one, float) and isinstance(two, (int, float)):
            if not math.isclose(one, two, rel_tol=SAME, abs_tol=SAME):
                yield name
        elif one != two:
            yield name


def _told(whose: str, field: str, stated: msgspec.Struct, again: msgspec.Struct) -> str:
    one, two = getattr(stated, field), getattr(again, field)
    shown = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in (one, two)]
    return f"{field} {whose} is stated as {shown[0]}; the raw samples give {shown[1]}"


RULE = Rule(
    id="numbers",
    title="Numbers from samples",
    refuses="A median, mean, quantile, ratio, interval or verdict that the raw samples do not "
    "give when it is computed again.",
    check=check,
    every=True,
)
