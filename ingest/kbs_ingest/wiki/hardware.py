"""Hardware, limits and measured pages: tables of specs with their lines."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from kbs_engine.errors import WikiError
from kbs_engine.facts import Citation, Grade, Spec
from kbs_engine.units import SPEC_UNITS
from kbs_ingest.wiki.basis import parse_basis
from kbs_ingest.wiki.checks import CHECKS
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.known_words import ARCH_FORM, arch_fault
from kbs_ingest.wiki.markdown import Document, Row, Section, Table
from kbs_ingest.wiki.metric_ids import check_row
from kbs_ingest.wiki.names import is_id
from kbs_ingest.wiki.shapes import YamlPart, convert

SPEC_HEADER = ("Metric", "Value", "Unit", "Basis", "Source")
UNKNOWN = "UNKNOWN"
_METRIC = re.compile(r"`(?P<id>[^`]+)`\s*(?P<words>.*)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_NUMBER_LIKE = re.compile(r"[~<>≤≥±]?\s*[-+]?\.?\d")
_KEY = re.compile(r"\[(?P<key>[A-Za-z0-9_.-]+)\]")
_GRADE = re.compile(r"\((?P<grade>[ABCD])\)")
_SOURCE_ITEM = re.compile(r"^\s*[-*]\s+\[(?P<key>[A-Za-z0-9_.-]+)\]\s*:?\s*\S", re.MULTILINE)


class HardwareFront(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Front matter of a chip."""

    kind: Literal["hardware"]
    id: str
    name: str
    vendor: Literal["nvidia", "amd"]
    architecture: str
    arch: str
    inherits: str | None = None
    aliases: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


class LimitsFront(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Front matter of limits that several chips share."""

    kind: Literal["limits"]
    id: str
    name: str
    vendor: Literal["nvidia", "amd"]
    architecture: str = ""
    arch: str = ""
    inherits: str | None = None
    aliases: tuple[str, ...] = ()


class MeasuredFront(msgspec.Struct, frozen=True, kw_only=True):
    """Front matter of ceilings measured on one machine; provenance keys are free."""

    kind: Literal["measured"]
    id: str
    chip: str
    name: str = ""


Front = HardwareFront | LimitsFront | MeasuredFront
_FRONTS: dict[str, type[Front]] = {
    "hardware": HardwareFront,
    "limits": LimitsFront,
    "measured": MeasuredFront,
}


class SpecPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page as read; ``specs`` belong to its own id (measured ones to its chip)."""

    front: Front
    part: YamlPart
    citation: Citation
    specs: tuple[Spec, ...]
    exceptions: tuple[tuple[str, str], ...] = ()


def read_hardware(front: YamlPart, page: Document, path: str, faults: Faults) -> SpecPage | None:
    """Read a page of kind hardware, limits or measured; None when its front matter is broken."""
    kind = front.value.get("kind")
    try:
        head = convert(front, _FRONTS[kind])
    except WikiError as error:
        faults.add_error(error)
        return None
    _check_arch(head, front, faults)
    title = next((part for part in page.sections if part.level == 1), None)
    specs = _specs(head, page, path, faults)
    if not specs:
        faults.add(front.at(), "has no table of specs", "add '## Specs' with its table")
    line = title.line if title else 1
    return SpecPage(
        front=head,
        part=front,
        citation=Citation(path=path, line=line),
        specs=tuple(specs),
        exceptions=tuple(_exceptions(page, path, faults)),
    )


def _check_arch(head: Front, front: YamlPart, faults: Faults) -> None:
    """Limits pages may leave the architecture out, chips may not."""
    if isinstance(head, MeasuredFront) or (isinstance(head, LimitsFront) and not head.arch):
        return
    problem = arch_fault(head.arch, head.vendor)
    if problem:
        faults.add(front.at("arch"), f"arch: {problem}", ARCH_FORM)


def _exceptions(page: Document, path: str, faults: Faults) -> list[tuple[str, str]]:
    """Check and metric of each row under Exceptions; a row without reason or source is refused."""
    section = page.section("Exceptions")
    keys = _source_keys(page)
    found = []
    for row in (row for table in section.tables for row in table.rows) if section else ():
        where = f"{path}:{row.line}"
        check, metric, *rest = (cell.strip("`") for cell in row.cells)
        if check not in CHECKS:
            faults.add(where, f"no check {check!r}", f"use one of {', '.join(CHECKS)}")
        if len(rest) != 2 or not rest[0] or not set(_KEY.findall(rest[1])) & keys:  # noqa: PLR2004
            faults.add(
                where,
                f"the exception of {metric} has no reason or no source",
                "give both: Check | Metric | Reason | Source",
            )
        found.append((check, metric))
    return found


def _specs(head: Front, page: Document, path: str, faults: Faults) -> list[Spec]:
    keys = _source_keys(page)
    owner = head.chip if isinstance(head, MeasuredFront) else head.id
    seen: dict[tuple[Any, ...], int] = {}
    specs = []
    for section, table in _spec_tables(page, path, faults):
        measured = isinstance(head, MeasuredFront) or section.title == "Measured"
        for row in table.rows:
            where = f"{path}:{row.line}"
            try:
                spec = _spec(owner, row, path, keys, measured=measured)
            except ValueError as problem:
                faults.add(where, str(problem), "see docs/wiki-format.md, Hardware pages")
                continue
            identity = (spec.metric, spec.basis, spec.measured)
            if identity in seen and not isinstance(head, MeasuredFront):
                faults.add(
                    where,
                    f"{spec.metric} with this basis stands on line {seen[identity]} already",
                    "keep the used value and move the other to '## Disagreements'",
                )
            seen.setdefault(identity, row.line)
            specs.append(spec)
    return specs


def _spec_tables(page: Document, path: str, faults: Faults) -> list[tuple[Section, Table]]:
    found = []
    for section in page.sections:
        if not {"Specs", "Measured"} & set(section.heading):
            continue
        for table in section.tables:
            if table.header == SPEC_HEADER:
                found.append((section, table))
            elif table.header[:1] == ("Metric",):
                faults.add(
                    f"{path}:{table.line}",
                    f"a table of specs has the columns {' | '.join(SPEC_HEADER)}",
                    "name them so, in this order",
                )
    return found


def _source_keys(page: Document) -> frozenset[str]:
    section = page.section("Sources")
    return frozenset(_SOURCE_ITEM.findall(section.text)) if section else frozenset()


def _spec(owner: str, row: Row, path: str, keys: frozenset[str], *, measured: bool) -> Spec:
    metric_cell, value_cell, unit, basis, source = row.cells
    metric = _METRIC.fullmatch(metric_cell)
    if not metric or not is_id(metric["id"]):
        msg = f"the metric cell {metric_cell!r} does not begin with an id in backticks"
        raise ValueError(msg)
    value = _value(value_cell)
    if isinstance(value, str) and unit:
        msg = f"{value!r} is a word and has the unit {unit!r}"
        raise ValueError(msg)
    if unit not in SPEC_UNITS:
        msg = f"unknown unit {unit!r}"
        raise ValueError(msg)
    conditions = parse_basis(basis)
    check_row(metric["id"], value, unit, conditions)
    grade = None if value is None else _grade(source, keys)
    return Spec(
        chip=owner,
        metric=metric["id"],
        words=metric["words"].strip(),
        value=value,
        unit=unit,
        basis=conditions,
        source=source,
        grade=grade,
        citation=Citation(path=path, line=row.line),
        measured=measured and value is not None,
    )


def _value(cell: str) -> float | str | None:
    text = cell.strip("`")
    if text == UNKNOWN:
        return None
    if _NUMBER.fullmatch(text):
        return float(text)
    if not text:
        msg = "the value is empty; write UNKNOWN where no source states it"
        raise ValueError(msg)
    if _NUMBER_LIKE.match(text):
        msg = f"{text!r} is not a plain decimal number (no separators, ranges or signs like ~)"
        raise ValueError(msg)
    return text


def _grade(source: str, keys: frozenset[str]) -> Grade:
    named = _KEY.findall(source)
    if not named:
        msg = "the value has no source: name a [key] of '## Sources'"
        raise ValueError(msg)
    lost = [key for key in named if key not in keys]
    if lost:
        msg = f"the source [{lost[0]}] does not stand in '## Sources'"
        raise ValueError(msg)
    grade = _GRADE.search(source)
    if not grade:
        msg = "the source states no grade (A), (B), (C) or (D)"
        raise ValueError(msg)
    letter: Grade = msgspec.convert(grade["grade"], Grade)
    return letter
