"""A decision rests on questions that were asked and passages that exist."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.notes import EvidenceNote


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse evidence without its sections, its two kinds of query, or real citations."""
    path = context.paths.evidence
    for fault in context.version.faults:
        if fault.where.split(":")[0].endswith(path.name):
            yield context.refuse("evidence", fault.where, fault.message, fault.remedy)
    note = context.version.evidence
    if note is None:
        return
    kinds = {query.kind for query in note.queries}
    for kind, words in (("kernel", "about this kernel"), ("bottleneck", "about the bottleneck")):
        if kind not in kinds:
            yield context.refuse(
                "evidence",
                path,
                f"asked nothing {words}",
                f"add a query `[{kind}] …` with what `kbs query` answered",
            )
    if not note.facts:
        yield context.refuse(
            "evidence", path, "states no measured fact", "name the metrics that the decision read"
        )
    request = context.version.request
    if request is not None and request.plan.methods and not note.selected:
        yield context.refuse(
            "evidence",
            path,
            "selects no evidence for what is planned",
            "cite the passages that the plan rests on",
        )
    yield from _unresolved(context, note)


def _unresolved(context: GateContext, note: EvidenceNote) -> Iterator[Refusal]:
    if context.inspectors.unresolved is None:
        return
    for row in note.selected:
        why = context.inspectors.unresolved(row.citation)
        if why:
            yield context.refuse(
                "evidence",
                context.paths.evidence,
                f"cites what does not resolve: {row.citation[:80]} ({why})",
                "cite a line of the wiki or an outcome that exists",
            )


RULE = Rule(
    id="evidence",
    title="Evidence",
    refuses="kbs_evidence.md without its headings in order, without a query about the kernel and "
    "one about the bottleneck, without a measured fact, or citing what does not resolve.",
    check=check,
    every=True,
)
