"""The plan keeps to its budget, and the version to its plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.judged import Budget
from kbs_engine.vocabulary import MethodAxis


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse what goes beyond the slots, the axis cap, the budget, or the plan."""
    yield from _version(context)
    yield from _leaving(context)


def _version(context: GateContext) -> Iterator[Refusal]:
    """methods.json against the run's settings and the plan that led here."""
    methods = context.version.methods
    if methods is None:
        return
    path = context.paths.methods
    yield from _within(context, path, [row.axis for row in methods.methods], methods.axis_slots)
    before = context.view.version(context.number - 1)
    request = before.request if before else None
    if request is None:
        return
    planned = {row.method for row in request.plan.methods}
    for row in methods.methods:
        if row.method not in planned:
            yield context.refuse_measured(
                "plan_budget",
                path,
                f"holds {row.method}, which v{context.number - 1}'s plan does not",
            )
    for axis, slots in methods.axis_slots.items():
        given = request.budget.axis_slots.get(axis, 0)
        if slots > given:
            yield context.refuse_measured(
                "plan_budget", path, f"gives axis {axis} {slots} slots; its budget was {given}",
            )  # fmt: skip


def _leaving(context: GateContext) -> Iterator[Refusal]:
    """request.json: the plan for the change that leaves this version."""
    request = context.version.request
    if request is None:
        return
    path = context.paths.request
    axes = [row.axis for row in request.plan.methods]
    yield from _within(context, path, axes, request.budget.axis_slots)
    line = context.version.roofline
    if line is not None and not _same(line.budget, request.budget):
        yield context.refuse_measured(
            "plan_budget",
            path,
            "plans under another budget than roofline.json gives",
        )


def _within(
    context: GateContext,
    path: Path,
    axes: Iterable[MethodAxis],
    axis_slots: Mapping[MethodAxis, int],
) -> Iterator[Refusal]:
    used: Counter[MethodAxis] = Counter(axes)
    slots, cap = context.settings.slots, context.settings.axis_cap
    if used.total() > slots:
        yield context.refuse_measured(
            "plan_budget", path, f"takes {used.total()} methods; the run has {slots} slots"
        )
    for axis, count in sorted(used.items()):
        allowed = min(cap, axis_slots.get(axis, 0))
        if count > allowed:
            yield context.refuse_measured(
                "plan_budget",
                path,
                f"takes {count} methods on axis {axis}; {allowed} slots are there",
            )


def _same(one: Budget, two: Budget) -> bool:
    def given(budget: Budget) -> dict[str, int]:
        return {axis: n for axis, n in budget.axis_slots.items() if n}

    return one.slots == two.slots and given(one) == given(two)


RULE = Rule(
    id="plan_budget",
    title="Budget",
    refuses="More methods than slots, than an axis may take, or than roofline.json gives it; a "
    "method that nobody planned.",
    check=check,
    every=True,
)
