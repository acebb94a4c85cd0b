"""What the gate borrows from the knowledge base and the languages: audit, citations, marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kbs_engine.gate import CitationFault, Inspectors
from kbs_engine.run.files import read_record, read_text
from kbs_engine.run.layout import Layout
from kbs_engine.run.state import State

if TYPE_CHECKING:
    from kbs_ingest.audit import Judge

_RECORD = re.compile(r"^(?:outcome[: ]\s*)?(?P<id>[0-9a-f]{12,64})\b")
_OPEN = re.compile(r"^`?(?P<path>(?:v\d+|memory)/[\w./-]+|[\w-]+\.(?:json|md|txt|py))")


def gate_inspectors(
    roots: Sequence[Path], run: Path, *, known_record: Callable[[str], bool] | None = None
) -> Inspectors:
    """Inspectors for a run: the wiki of ``roots``, the run's own files, the marks of its kernels.

    ``known_record`` says whether an outcome's id is in the experience log; without it such
    references are refused.
    """

    @cache
    def judge() -> Judge:  # reading the wiki takes seconds, and a broken run needs none of it
        from kbs_ingest.audit import Judge, load_knowledge

        return Judge(load_knowledge(tuple(roots)))

    @cache
    def marked() -> tuple[str, ...]:
        return tuple(map(str, read_record(Layout(run).state, State).settings.placeholders))

    def audit(paths: Sequence[Path]) -> list[CitationFault]:
        return [fault for path in paths for fault in _audit(path, judge(), marked())]

    def unresolved(reference: str) -> str:
        return _unresolved(reference, judge(), run, known_record)

    return Inspectors(audit=audit, unresolved=unresolved, switches=_switches)


def _audit(path: Path, judge: Judge, marked: Sequence[str]) -> list[CitationFault]:
    """Citations of one file that fail, and specs without one.

    ``marked`` are the placeholders of the run as they are shown; nobody else's mark excuses.
    """
    from kbs_ingest.audit.run import audit_file

    report = audit_file(path, judge)
    faults = [
        CitationFault(
            where=f"{path}:{row.line}",
            message=f"{row.text[:80]}: {row.verdict.replace('_', ' ')} ({row.detail})",
        )
        for row in report.citations
        if row.verdict != "ok" and not row.predates
    ]
    bare = [
        CitationFault(where=f"{path}:{row.line}", message=f"a spec without a citation: {row.text}")
        for row in report.uncited
        if row.kind == "uncited" and not any(mark in row.text for mark in marked)
    ]
    return faults + bare


def _unresolved(
    reference: str, judge: Judge, run: Path, known: Callable[[str], bool] | None
) -> str:
    """Why a reference does not resolve; empty when it does."""
    from kbs_ingest.audit.scan import scan_text

    found = scan_text(reference + "\n", ".md").citations
    for citation in found:
        verdict = judge.judge(citation)
        if verdict.verdict != "ok" and not verdict.predates:
            return verdict.detail
    if found:
        return ""
    record = _RECORD.match(reference)
    if record is not None:
        if known is not None and known(record["id"]):
            return ""
        return "no such record in the experience log"
    own = _OPEN.match(reference)
    if own is not None:
        return "" if (run / own["path"]).is_file() else "no such file in the run"
    return "is no gpu-wiki citation, no record of the experience log and no file of the run"


def _switches(path: Path) -> Mapping[str, bool]:
    """Method switches of a kernel: on when every name of the method is on."""
    from kbs_backends.languages import detect_language
    from kbs_backends.variants import read_marks

    text = read_text(path)
    marks = read_marks(text, detect_language(path, text), where=str(path))
    found: dict[str, bool] = {}
    for switch in marks.switches:
        found[switch.method] = found.get(switch.method, True) and switch.current
    return found
