"""A run that was given GPU seconds does not spend more."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.shell import shell


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a run whose jobs took more GPU time than its settings allow."""
    allowed = _allowed(context)
    spent = sum(row.gpu_time_s or 0.0 for row in context.finished.values())
    if allowed is not None and spent > allowed and _after_v0(context):
        yield context.refuse(
            "gpu_budget",
            context.run.paths.journal,
            f"{spent:.1f} s of GPU time were spent; the budget is {allowed:g} s",
            f"allow more: `kbs loop set {shell(context.run.root)} "
            f"--set gpu_seconds={math.ceil(2 * spent)}`",
        )


def _after_v0(context: GateContext) -> bool:
    """Whether a version was begun: what v0 takes is spent before anything can be reckoned."""
    opened = context.run.journal.of_kind("version_opened")
    return any(event.data.get("version") for event in opened)


def _allowed(context: GateContext) -> float | None:
    """The budget of the settings, or of an order that was given since and is not followed yet.

    The run follows orders only behind the gate, which would never be passed without this.
    """
    allowed = context.state.settings.gpu_seconds
    for event in context.run.journal.of_kind("order"):
        changes = event.data.get("order", {}).get("changes", {})
        allowed = changes.get("gpu_seconds", allowed)
    return allowed


RULE = Rule(
    id="gpu_budget",
    title="GPU time",
    refuses="More GPU seconds in finished jobs than the run was given, once a version after v0 "
    "was begun.",
    check=check,
)
