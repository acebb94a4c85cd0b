"""The next change is explained before it is made."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.notes import ShortHypothesis


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a hypothesis without its sections, of another version, or that cites nothing real."""
    path = context.paths.hypothesis
    for fault in context.version.faults:
        if fault.where.split(":")[0].endswith(path.name):
            yield context.refuse("hypothesis", fault.where, fault.message, fault.remedy)
    note = context.version.hypothesis
    if note is None:
        return
    if isinstance(note, ShortHypothesis):
        if not context.settings.one_change:
            yield context.refuse(
                "hypothesis",
                path,
                "uses the short form in a run that may change several methods",
                "write the nine headings, or run with one slot",
            )
        return
    if note.version != context.number:
        yield context.refuse(
            "hypothesis",
            path,
            f"belongs to v{note.version}",
            f"explain the change from v{context.number}",
        )
    if context.inspectors.unresolved is None:
        return
    for reference in note.evidence_used:
        why = context.inspectors.unresolved(reference)
        if why:
            yield context.refuse(
                "hypothesis",
                path,
                f"cites what does not resolve: {reference[:80]} ({why})",
                "cite a line of the wiki or an outcome that exists",
            )


RULE = Rule(
    id="hypothesis",
    title="Hypothesis",
    refuses="hypothesis.txt without its nine headings in order (Hypothesis, Rationale, Expected "
    "are enough in one-change mode), of another version, or citing what does not resolve.",
    check=check,
    every=True,
)
