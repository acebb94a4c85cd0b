"""A run that was given GPU seconds does not spend more."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a run whose jobs took more GPU time than its settings allow."""
    allowed = context.state.settings.gpu_seconds
    spent = sum(row.gpu_time_s or 0.0 for row in context.finished.values())
    if allowed is not None and spent > allowed:
        yield context.refuse(
            "gpu_budget",
            context.run.paths.journal,
            f"{spent:.1f} s of GPU time were spent; the budget is {allowed:g} s",
            "end the run with `kbs loop finalize`, or extend the budget with `kbs loop extend`",
        )


RULE = Rule(
    id="gpu_budget",
    title="GPU time",
    refuses="More GPU seconds in finished jobs than the run was given.",
    check=check,
)
