"""The journal's chain must hold: every other rule rests on it."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule

JOURNAL = (
    "restore events.jsonl from a copy of the run (its git history holds the journal up to the "
    "last commit alone); a changed journal proves nothing"
)


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a chain that does not hold, at the first place where it breaks."""
    if context.broken is not None:
        yield context.refuse(
            "journal_chain",
            context.broken.where,
            f"the journal's chain is broken: {context.broken.message}",
            JOURNAL,
        )
    elif not context.run.journal.events:
        yield context.refuse(
            "journal_chain",
            context.run.paths.journal,
            "the run has no journal",
            JOURNAL,
        )


RULE = Rule(
    id="journal_chain",
    title="Journal",
    refuses="A journal whose hash chain does not hold, was cut short, or is another one than "
    "the home folder remembers.",
    check=check,
)
