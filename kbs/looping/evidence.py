"""kbs_evidence.md from the knowledge base: questions asked, passages that answer, what was left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kbs_engine.recommendations import KernelAdvice
from kbs_engine.roofs import Roofline
from kbs_engine.run.records import EvidenceNote, Query, SelectedEvidence
from kbs_engine.symptoms import Cause
from kbs_engine.units import human_ns

if TYPE_CHECKING:
    from kbs_ingest.store import Store

HITS: Final = 3
SAID: Final = 120
REJECTED: Final = 12


def evidence_note(
    store: Store | None,
    advices: Sequence[KernelAdvice],
    roofline: Roofline,
    *,
    family: str,
    language: str,
    time_ns: float,
) -> EvidenceNote:
    """Facts, the two questions, the passages chosen, and what was taken out and why."""
    kernel = f"{family} kernel in {language}"
    bottleneck = _bottleneck(advices, roofline)
    queries: list[Query] = []
    selected: list[SelectedEvidence] = []
    asked = (("kernel", kernel, ("method", "case")), ("bottleneck", bottleneck, ("method",)))
    for kind, text, kinds in asked:
        hits = store.search(text, kinds=kinds, language=None, limit=HITS).results if store else ()
        names = ", ".join(dict.fromkeys(hit.chunk.title for hit in hits))
        answer = names or ("nothing found" if store else "not asked: the run uses no knowledge")
        queries.append(Query(kind=kind, text=text, answer=answer))  # type: ignore[arg-type]
        selected += [
            SelectedEvidence(
                citation=f"gpu-wiki/{hit.chunk.path}:L{hit.chunk.line}",
                says=" ".join(hit.chunk.text.split())[:SAID],
            )
            for hit in hits
        ]
    selected += _pages(advices)
    if not selected:
        selected.append(
            SelectedEvidence(citation="README.md", says="the run uses no knowledge: task alone")
        )
    return EvidenceNote(
        version=0,
        facts=facts(advices, roofline, time_ns),
        queries=tuple(queries),
        selected=tuple({row.citation: row for row in selected}.values()),
        rejected=_rejected(advices),
        decision_link="",
    )


def _bottleneck(advices: Sequence[KernelAdvice], roofline: Roofline) -> str:
    causes = [cause for advice in advices for cause in advice.diagnosis.causes]
    if causes:
        return f"{causes[0].title} ({causes[0].id}), limiter {roofline.limiter}"
    return f"limiter {roofline.limiter}, algorithm bound by {roofline.algorithm_bound}"


def _pages(advices: Sequence[KernelAdvice]) -> list[SelectedEvidence]:
    """The page of each of the best methods."""
    rows = []
    for advice in advices:
        for row in advice.recommendations[:HITS]:
            where = row.citations[0].rpartition(" <- ")[2] if row.citations else ""
            if where:
                rows.append(SelectedEvidence(citation=where, says=f"{row.method}: {row.title}"))
    return rows


def _rejected(advices: Sequence[KernelAdvice]) -> tuple[str, ...]:
    rows = [f"{row.method}: {row.reason}" for advice in advices for row in advice.filtered]
    rows += [f"{w.method}: {w.because}" for advice in advices for w in advice.anti_strategies]
    rows += [
        f"not measurable: {row.id} needs {', '.join(row.needs)}"
        for advice in advices
        for row in advice.diagnosis.not_measurable
    ]
    more = len(rows) - REJECTED
    return tuple(rows[:REJECTED]) + ((f"and {more} more",) if more > 0 else ())


def facts(advices: Sequence[KernelAdvice], roofline: Roofline, time_ns: float) -> tuple[str, ...]:
    """What was measured, in lines."""
    launches = f" ({len(advices)} kernels in the call)" if advices else ""
    rows = [f"time {human_ns(time_ns)}{launches}"]
    share = f" at {roofline.limiter_share:.0%}" if roofline.limiter_share is not None else ""
    rows.append(f"limiter {roofline.limiter}{share}")
    if roofline.gap is not None:
        rows.append(f"gap to the model {roofline.gap:.3f}")
    for advice in advices:
        rows += [said(cause) for cause in advice.diagnosis.causes]
    return tuple(rows)


def said(cause: Cause) -> str:
    """A cause in words; one that rests on no measured value says so first."""
    return cause.message if cause.evidence else f"assumed, not measured: {cause.message}"
