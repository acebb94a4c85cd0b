"""Raw answers are those that the device gave: the hash of each stands in the chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.jobs import Result
from kbs_engine.run.events import result_hash


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse an answer that no finished job gave, or that is not what it gave."""
    if context.broken is None:
        yield from changed_answers(context, context.raw())


def changed_answers(
    context: GateContext, answers: Iterable[tuple[Path, Result]]
) -> Iterator[Refusal]:
    """Refusals for answers, each with the file that holds it."""
    for path, result in answers:
        row = context.finished.get(result.job_key)
        if row is None:
            yield context.refuse_measured(
                "raw_samples",
                path,
                f"holds a {result.kind} answer of a job that never finished in this run "
                f"({result.job_key[:12]})",
            )
        elif row.result_sha256 != result_hash(result):
            yield context.refuse_measured(
                "raw_samples",
                path,
                f"raw {result.kind} samples were changed: their hash is not the one in the "
                f"journal ({result.job_key[:12]})",
            )


RULE = Rule(
    id="raw_samples",
    title="Raw samples",
    refuses="Raw samples or check rounds whose hash is not in the journal's chain.",
    check=check,
    every=True,
)
