"""hypothesis.txt, kbs_evidence.md and plan.md: text from records, and records from text.

Texts by hand in the same headings are read too, as are those of fmh66/kernel-opt-agent (nine
headings, KBS headings) and of fmh66/kernel-opt-skill (Hypothesis, Rationale, Expected).
"""

from __future__ import annotations

import re
from typing import Final

from kbs_engine.errors import InputError
from kbs_engine.run.headings import Section, bullets, in_order, one_line, sections
from kbs_engine.run.memory_record import Search
from kbs_engine.run.notes import (
    EvidenceNote,
    Hypothesis,
    PlanNote,
    Query,
    SelectedEvidence,
    ShortHypothesis,
)

HYPOTHESIS: Final = (
    "Version", "Current evidence", "Decision link", "Single change", "Rationale",
    "Expected metric movement", "Risk", "Evidence used", "Decision rule",
)  # fmt: skip
SHORT: Final = ("Hypothesis", "Rationale", "Expected")
EVIDENCE: Final = (
    "NCU Facts", "Queries", "Selected Evidence", "Rejected or Limits", "Decision Link",
)  # fmt: skip
PLAN: Final = ("Input Evidence", "Search Log", "Action", "Expected Impact", "Risks and Rollback")
_ALIASES: Final = {
    "Changes": "Single change",
    "Change": "Single change",
    "Rejected / Limits": "Rejected or Limits",
    "This Iteration's Optimization Action": "Action",
    "Optimization Action": "Action",
}
"""Headings of predecessors, and the plural of an iteration with several methods."""

_NOTHING: Final = frozenset({"none", "n/a", "-"})
_ARROW: Final = " => "
_VERSION: Final = re.compile(r"v?(\d+)")


def hypothesis_text(note: Hypothesis | ShortHypothesis) -> str:
    """hypothesis.txt."""
    if isinstance(note, ShortHypothesis):
        three = (note.hypothesis, note.rationale, note.expected)
        return (
            "\n\n".join(f"## {t}\n{one_line(b)}" for t, b in zip(SHORT, three, strict=True)) + "\n"
        )
    bodies = (
        f"v{note.version} -> v{note.version + 1}",
        bullets(note.current_evidence),
        one_line(note.decision_link),
        bullets(note.change),
        one_line(note.rationale),
        bullets(note.expected),
        one_line(note.risk),
        bullets(note.evidence_used),
        one_line(note.decision_rule),
    )
    return _document(f"Hypothesis of v{note.version}", HYPOTHESIS, bodies)


def parse_hypothesis(text: str, where: str) -> Hypothesis | ShortHypothesis:
    """The record of a hypothesis in either form; InputError with file and line otherwise."""
    text = _renamed(text, HYPOTHESIS)
    long = {section.title for section in sections(text, HYPOTHESIS)}
    short = sections(text, SHORT)
    if len(short) == len(SHORT) and "Single change" not in long:
        by = in_order(text, SHORT, where)
        return ShortHypothesis(
            hypothesis=by["Hypothesis"].text,
            rationale=by["Rationale"].text,
            expected=by["Expected"].text,
        )
    by = in_order(text, HYPOTHESIS, where)
    return Hypothesis(
        version=_version(by["Version"], where),
        current_evidence=_lines(by["Current evidence"]),
        decision_link=by["Decision link"].text,
        change=_lines(by["Single change"]),
        rationale=by["Rationale"].text,
        expected=_lines(by["Expected metric movement"]),
        risk=by["Risk"].text,
        evidence_used=_lines(by["Evidence used"]),
        decision_rule=by["Decision rule"].text,
    )


def evidence_text(note: EvidenceNote) -> str:
    """kbs_evidence.md."""
    asked = [
        f"[{query.kind}] {one_line(query.text)}"
        + (f"{_ARROW}{one_line(query.answer)}" if query.answer else "")
        for query in note.queries
    ]
    chosen = [f"{one_line(row.citation)}{_ARROW}{one_line(row.says)}" for row in note.selected]
    bodies = (
        bullets(note.facts),
        bullets(asked),
        bullets(chosen),
        bullets(note.rejected),
        one_line(note.decision_link),
    )
    return _document(f"Evidence of v{note.version}", EVIDENCE, bodies)


def parse_evidence(text: str, where: str) -> EvidenceNote:
    """The record of an evidence note; InputError with file and line otherwise.

    A query names its kind: ``[kernel] …`` or ``[bottleneck] …`` (``kernel-specific:`` too).
    """
    text = _renamed(text, EVIDENCE)
    by = in_order(text, EVIDENCE, where)
    title = re.search(r"^#\s.*?\bv(\d+)\b", text, re.MULTILINE)
    return EvidenceNote(
        version=int(title[1]) if title else -1,
        facts=_lines(by["NCU Facts"]),
        queries=tuple(q for line in _lines(by["Queries"]) if (q := _query(line)) is not None),
        selected=tuple(
            SelectedEvidence(citation=cited.strip(), says=says.strip())
            for cited, _, says in (
                line.partition(_ARROW) for line in _lines(by["Selected Evidence"])
            )
        ),
        rejected=_lines(by["Rejected or Limits"]),
        decision_link=by["Decision Link"].text,
    )


def plan_text(note: PlanNote) -> str:
    """plan.md."""
    cells = [
        " | ".join(one_line(cell).replace("|", "/") or "-" for cell in
                   (row.source, row.query, row.finding, row.actionability))
        for row in note.search_log
    ]  # fmt: skip
    table = "\n".join(
        ["| Source | Query | Finding | Actionability |", "|---|---|---|---|"]
        + [f"| {row} |" for row in cells]
    )
    bodies = (
        bullets(note.input_evidence),
        table if cells else "- none",
        bullets(note.action),
        bullets(note.expected_impact),
        bullets(note.risks_and_rollback),
    )
    return _document(f"Plan of v{note.version}", PLAN, bodies)


def parse_plan(text: str, where: str) -> PlanNote:
    """The record of a plan; InputError with file and line otherwise."""
    text = _renamed(text, PLAN)
    by = in_order(text, PLAN, where)
    title = re.search(r"^#\s.*?\bv(\d+)\b", text, re.MULTILINE)
    return PlanNote(
        version=int(title[1]) if title else -1,
        input_evidence=_lines(by["Input Evidence"]),
        search_log=_search_log(by["Search Log"]),
        action=_lines(by["Action"]),
        expected_impact=_lines(by["Expected Impact"]),
        risks_and_rollback=_lines(by["Risks and Rollback"]),
    )


def _document(title: str, headings: tuple[str, ...], bodies: tuple[str, ...]) -> str:
    parts = [f"# {title}"]
    parts += [f"## {head}\n{body}" for head, body in zip(headings, bodies, strict=True)]
    return "\n\n".join(parts) + "\n"


def _renamed(text: str, titles: tuple[str, ...]) -> str:
    """Headings of predecessors in our words."""
    for old, new in _ALIASES.items():
        if new in titles:
            pattern = rf"^(#{{1,6}}\s+){re.escape(old)}\s*$"
            text = re.sub(pattern, rf"\g<1>{new}", text, flags=re.MULTILINE)
    return text


def _lines(section: Section) -> tuple[str, ...]:
    return tuple(line for line in section.items if line.lower() not in _NOTHING)


def _version(section: Section, where: str) -> int:
    match = _VERSION.search(section.text)
    if match is None:
        raise InputError(
            f"names no version: {section.text[:40]!r}",
            where=f"{where}:{section.line}",
            remedy="write the version that the change leaves, for example v1 -> v2",
        )
    return int(match[1])


def _query(line: str) -> Query | None:
    match = re.match(r"[\[(*]*(kernel|bottleneck)[-\w ]*[\])*]*:?\**\s*(.+)$", line, re.IGNORECASE)
    if match is None:
        return None
    text, _, answer = match[2].partition(_ARROW)
    is_kernel = match[1].lower() == "kernel"
    return Query(
        kind="kernel" if is_kernel else "bottleneck", text=text.strip(), answer=answer.strip()
    )


def _search_log(section: Section) -> tuple[Search, ...]:
    rows = []
    for line in section.body.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 4 or cells[0] in ("Source", "") or set(cells[0]) <= {"-", ":"}:  # noqa: PLR2004 - columns
            continue
        source, query, finding, actionability = ("" if cell == "-" else cell for cell in cells)
        rows.append(
            Search(source=source, query=query, finding=finding, actionability=actionability)
        )
    return tuple(rows)
