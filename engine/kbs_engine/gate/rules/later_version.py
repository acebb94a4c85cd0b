"""Nothing of a later version may stand before this one has passed."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse when a later version's folder is there."""
    opened = {e.data.get("version") for e in context.run.journal.of_kind("version_opened")}
    for number in context.run.paths.versions():
        if number <= context.number:
            continue
        if number in opened and context.broken is None:
            yield context.refuse(
                "later_version",
                context.run.version(number).root,
                f"was opened when v{number - 1} passed its gate",
                f"v{context.number}'s own gate is over; `--final` on the last version asks "
                "again of every version",
            )
        else:
            yield context.refuse(
                "later_version",
                context.run.version(number).root,
                f"stands there before v{context.number} has passed",
                f"move v{number}/ out of the run; the gate makes it",
            )


RULE = Rule(
    id="later_version",
    title="No version before its time",
    refuses="A run in which a later version's folder exists already.",
    check=check,
)
