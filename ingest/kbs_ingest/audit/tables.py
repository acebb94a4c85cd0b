"""The tables of a hardware page that the reader skips: Disagreements, Exceptions, Sources."""

from __future__ import annotations

import re

import msgspec

from kbs_engine.facts import Basis
from kbs_engine.units import SPEC_UNITS
from kbs_ingest.wiki.basis import parse_basis
from kbs_ingest.wiki.markdown import Document, Table

_ID = re.compile(r"`([a-z][a-z0-9_]*)`")
_KEY = re.compile(r"\[([A-Za-z0-9_.-]+)\]")
_GRADE = re.compile(r"\(([ABCD])\)")
_ITEM = re.compile(r"^\s*[-*]\s+\[([A-Za-z0-9_.-]+)\]\s*:?\s*(.*)$")


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a source states and that the page does not use."""

    line: int
    metric: str
    words: str
    value: float | None
    unit: str
    basis: Basis
    source: str
    grade: str
    reason: str


class ExceptionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One metric freed from one check, with its reason."""

    line: int
    check: str
    metric: str
    reason: str
    source: str


class PageTables(msgspec.Struct, frozen=True, kw_only=True):
    """What stands on one page beside its specs."""

    path: str
    disagreements: tuple[Disagreement, ...]
    exceptions: tuple[ExceptionRow, ...]
    sources: dict[str, tuple[int, str]]
    """Key to line and title."""
    lines_in_specs: frozenset[int]
    """Lines of rows under Specs, as opposed to Measured."""

    def keys_of(self, text: str) -> list[str]:
        """Source keys that a cell names."""
        return _KEY.findall(text)

    def exception(self, check: str, metric: str) -> ExceptionRow | None:
        """The sourced exception for a metric, or None."""
        for row in self.exceptions:
            sourced = any(key in self.sources for key in self.keys_of(row.source))
            if (row.check, row.metric) == (check, metric) and row.reason and sourced:
                return row
        return None


def read_tables(page: Document, path: str) -> PageTables:
    """Read the tables of one page; rows that do not fit are left to the format check."""
    specs = [table for part in page.sections if "Specs" in part.heading for table in part.tables]
    return PageTables(
        path=path,
        disagreements=tuple(
            row for table in _tables(page, "Disagreements") for row in _disagreements(table)
        ),
        exceptions=tuple(
            row for table in _tables(page, "Exceptions") for row in _exceptions(table)
        ),
        sources=_sources(page),
        lines_in_specs=frozenset(row.line for table in specs for row in table.rows),
    )


def _tables(page: Document, title: str) -> list[Table]:
    return [table for part in page.sections if part.title == title for table in part.tables]


def _disagreements(table: Table) -> list[Disagreement]:
    rows = []
    for row in table.rows:
        cells = (*row.cells, "", "", "", "", "", "")[:6]
        metric, value, unit, basis, source, reason = cells
        known = _ID.match(metric)
        grade = _GRADE.search(source)
        rows.append(
            Disagreement(
                line=row.line,
                metric=known[1] if known else "",
                words=metric[known.end() :].strip() if known else metric,
                value=_number(value),
                unit=unit if unit in SPEC_UNITS else "",
                basis=_basis(basis),
                source=source,
                grade=grade[1] if grade else "",
                reason=reason,
            )
        )
    return rows


def _exceptions(table: Table) -> list[ExceptionRow]:
    rows = []
    for row in table.rows:
        check, metric, reason, source = (*row.cells, "", "", "", "")[:4]
        rows.append(
            ExceptionRow(
                line=row.line,
                check=check.strip("`"),
                metric=(_ID.match(metric) or [metric, metric])[1],
                reason=reason,
                source=source,
            )
        )
    return rows


def _sources(page: Document) -> dict[str, tuple[int, str]]:
    section = page.section("Sources")
    found: dict[str, tuple[int, str]] = {}
    if section is None:
        return found
    for number, line in enumerate(section.text.split("\n"), start=section.body_line):
        if item := _ITEM.match(line):
            found.setdefault(item[1], (number, item[2].strip()))
    return found


def _number(text: str) -> float | None:
    try:
        return float(text.strip("`"))
    except ValueError:
        return None


def _basis(text: str) -> Basis:
    try:
        return parse_basis(text)
    except ValueError:
        return Basis(remarks=(text,))
