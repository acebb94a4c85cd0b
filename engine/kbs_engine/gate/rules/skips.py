"""A better-ranked method is left out only for a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.plans import Plan, Skipped


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a ranking from which a higher method was dropped in silence."""
    request = context.version.request
    if request is not None:
        ranking = [row.method for row in request.ranked]
        chosen = [row.method for row in request.plan.methods]
        yield from _silent(context, context.paths.request, ranking, chosen, request.plan.skipped)
        yield from _plan_note(context, request.plan)
    methods = context.version.methods
    if methods is None:
        return
    path = context.paths.methods
    chosen = [row.method for row in methods.methods]
    ranking = [row.method for row in methods.ranking]
    yield from _silent(context, path, ranking, chosen, methods.skipped)
    before = context.view.version(context.number - 1)
    planned = (
        [row.method for row in before.request.plan.methods] if before and before.request else []
    )
    told = {row.method for row in methods.skipped}
    for name in planned:
        if name not in chosen and name not in told:
            why = f"{name} was planned and is not here, without a reason"
            yield context.refuse_measured("skips", path, why)


def _plan_note(context: GateContext, plan: Plan) -> Iterator[Refusal]:
    """plan.md names every method that request.json plans, and every one that it skips."""
    note = context.version.plan
    if note is None:
        return
    words = {word for line in note.action for word in re.findall(r"\w+", line)}
    for name in (*(row.method for row in plan.methods), *(row.method for row in plan.skipped)):
        if name not in words:
            yield context.refuse(
                "skips",
                context.paths.plan,
                f"does not say under Action what became of {name}, which request.json names",
                "write it there: taken, or left out and why (`- not METHOD: reason`)",
            )


def _silent(
    context: GateContext,
    path: Path,
    ranking: Sequence[str],
    chosen: Sequence[str],
    skipped: Sequence[Skipped],
) -> Iterator[Refusal]:
    """Every method above the lowest chosen one is chosen too or skipped with a reason."""
    places = [ranking.index(name) for name in chosen if name in ranking]
    if not places:
        return
    reasons = {row.method for row in skipped if row.reason.strip()}
    for name in ranking[: max(places)]:
        if name not in chosen and name not in reasons:
            told = f"skips {name}, which ranks higher than what was chosen, without a reason"
            yield context.refuse_measured("skips", path, told)


RULE = Rule(
    id="skips",
    title="Skipped methods",
    refuses="A plan, a plan.md or a version that leaves out a higher-ranked method without a "
    "reason.",
    check=check,
    every=True,
)
