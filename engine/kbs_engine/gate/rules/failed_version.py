"""A version may be recorded as failed only when everything was tried."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a failure that is none, and more tries than the run allows."""
    entry = context.version.entry
    if entry is None:
        return
    allowed = context.settings.retries + 1
    if entry.tries > allowed:
        yield context.refuse(
            "failed_version",
            context.run.paths.state,
            f"v{context.number} was tried {entry.tries} times; {allowed} are allowed",
            context.resume,
        )
    if not context.version.failed:
        return
    if context.number == 0:
        yield context.refuse(
            "failed_version",
            context.run.paths.state,
            "the baseline is recorded as failed",
            context.resume,
        )
    for part in context.version.branches:
        if part.bench is not None and part.bench.correct:
            told = f"v{context.number} is recorded as failed, but {part.name} is correct"
            path = context.paths.branches / part.name / "bench.json"
            yield context.refuse_measured("failed_version", path, told)


RULE = Rule(
    id="failed_version",
    title="Failed versions",
    refuses="A version recorded as failed although a branch was correct; more tries than the "
    "run's retries allow; a failed baseline.",
    check=check,
    every=True,
)
