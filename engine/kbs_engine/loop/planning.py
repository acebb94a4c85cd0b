"""The plan for the next version: methods under the budget, reasons for every better one skipped.

A plan never passes over a higher-ranked method silently. Each planned method carries its
hypothesis: current evidence, change, expected movement of metrics, risk and decision rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kbs_engine.loop.budget import AXIS_CAP, SLOTS, WORTH, Budget, share_slots
from kbs_engine.methods import Method
from kbs_engine.plans import Plan, PlannedMethod, Skipped
from kbs_engine.recommendations import AntiStrategy, Recommendation


class Planning(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made from."""

    ranked: tuple[Recommendation, ...]
    excluded: dict[str, str] = msgspec.field(default_factory=dict)
    """Methods that may not be planned now, each with the reason."""
    methods: dict[str, Method] = msgspec.field(default_factory=dict)
    """Their pages, for conflicts and expected movements."""
    warnings: tuple[AntiStrategy, ...] = ()
    bound: float | None = None
    """Δ of the version, where known."""
    slots: int = SLOTS
    cap: int = AXIS_CAP
    noise: float = 0.02
    worth: float = WORTH
    counters: bool = True


def make_plan(asked: Planning) -> tuple[Plan, Budget]:
    """The plan and the budget that it keeps; the plan is empty when nothing may be tried."""
    usable = [row for row in asked.ranked if row.method not in asked.excluded]
    budget = share_slots(
        usable, slots=asked.slots, cap=asked.cap, bound=asked.bound, worth=asked.worth
    )
    left = dict(budget.by_axis)
    chosen: list[Recommendation] = []
    skipped: list[Skipped] = []
    for row in asked.ranked:
        reason = _why_not(row, asked, budget, left, chosen)
        if reason is None:
            chosen.append(row)
            left[row.axis] -= 1
        else:
            skipped.append(Skipped(method=row.method, reason=reason))
    plan = Plan(
        methods=tuple(planned(row, asked) for row in chosen),
        slots=asked.slots,
        axis_slots=budget.by_axis,
        skipped=_above(asked.ranked, chosen, skipped),
    )
    return plan, budget


def _why_not(
    row: Recommendation,
    asked: Planning,
    budget: Budget,
    left: Mapping[str, int],
    chosen: Sequence[Recommendation],
) -> str | None:
    """Why a method is passed over; None when it is planned."""
    if row.method in asked.excluded:
        return asked.excluded[row.method]
    clash = next((other for other in chosen if _conflict(row.method, other.method, asked)), None)
    if clash is not None:
        return f"conflicts with {clash.method}, which ranks higher"
    if left[row.axis] > 0:
        return None
    slots = budget.of(row.axis)
    axis = next(item for item in budget.axes if item.axis == row.axis)
    if slots == 0:
        return f"the {row.axis} axis has no slot: {axis.why}"
    return f"the {slots} slot{'s' if slots > 1 else ''} of the {row.axis} axis went to better ones"


def _conflict(one: str, other: str, asked: Planning) -> bool:
    first, second = asked.methods.get(one), asked.methods.get(other)
    return bool(
        (first is not None and other in first.conflicts)
        or (second is not None and one in second.conflicts)
    )


def _above(
    ranked: Sequence[Recommendation],
    chosen: Sequence[Recommendation],
    skipped: Sequence[Skipped],
) -> tuple[Skipped, ...]:
    """What was skipped though it ranks above the last planned method; all of it for no plan."""
    if not chosen:
        return tuple(skipped)
    last = max(index for index, row in enumerate(ranked) if row in chosen)
    above = {row.method for row in ranked[:last]}
    return tuple(row for row in skipped if row.method in above)


def planned(row: Recommendation, asked: Planning) -> PlannedMethod:
    """The hypothesis of one method."""
    page = asked.methods.get(row.method)
    risks = [item.because for item in asked.warnings if item.method == row.method]
    low, high = row.predicted_gain
    evidence = "; ".join(row.triggers) or "no measured cause asks for it; the source offers it"
    return PlannedMethod(
        method=row.method,
        axis=row.axis,
        evidence=evidence,
        change=row.title,
        expected={
            "time": f"{low:.0%} to {high:.0%} of the time returned (80 % interval)",
            **(dict(page.moves.items()) if page and asked.counters else {}),
        },
        risk="; ".join(risks) or _usual_risk(page),
        decision_rule=(
            f"kept when correct and, with it off, the whole 95 % interval is slower by more "
            f"than {asked.noise:.0%}; dropped otherwise"
        ),
    )


def _usual_risk(page: Method | None) -> str:
    if page is not None and page.conflicts:
        return f"conflicts with {', '.join(page.conflicts)}"
    return "wrong results, or registers and shared memory that lower occupancy"
