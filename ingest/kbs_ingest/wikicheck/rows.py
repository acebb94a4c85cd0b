"""Rows of hardware pages: grades, disagreements, exceptions, measured ceilings."""

from __future__ import annotations

from kbs_engine.facts import Chip, Spec
from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.tables import Disagreement, PageTables
from kbs_ingest.wikicheck.model import CHECKS, Collected, Collector

_FREEABLE = ("dense_sparse_ratio", "peak_arithmetic", "basis_clock", "per_die", "sibling_value")
_BETTER = {"C": "AB", "D": "ABC"}


def check_rows(wiki: Collected, out: Collector) -> None:
    """All checks of single rows and of one page."""
    for page in (*wiki.merged.pages.values(), *wiki.merged.measured.values()):
        tables = wiki.tables.get(page.citation.path)
        if tables is None:
            continue
        if page.front.kind != "measured":
            _check_grades(page.specs, tables, out)
        for row in tables.disagreements:
            _check_disagreement(row, tables, out)
        _check_exceptions(tables, {spec.metric for spec in page.specs}, out)
        for line, title in tables.sources.values():
            if not title.strip(" .<>"):
                out.add(
                    f"{tables.path}:{line}",
                    "source_title",
                    "the source has no title",
                    "name the document, its version and the place in it",
                )
    for chip_page in wiki.chips.values():
        _check_ceilings(chip_page.chip, out)


def _check_grades(specs: tuple[Spec, ...], tables: PageTables, out: Collector) -> None:
    for spec in specs:
        line = spec.citation.line
        if line not in tables.lines_in_specs:
            continue
        where = f"{tables.path}:{line}"
        if spec.grade == "D":
            out.add(
                where,
                "grade_d_in_specs",
                f"{spec.metric} is graded D, measured",
                "move the row to '## Measured'; a measurement never stands for a documented value",
            )
        for row in tables.disagreements:
            same = row.metric == spec.metric and _same_basis(row, spec)
            better = row.grade and row.grade in _BETTER.get(spec.grade or "", "")
            if same and better and not row.reason.strip():
                out.add(
                    where,
                    "disagreement_reason",
                    f"{spec.metric} of grade {spec.grade} is used although line {row.line} "
                    f"holds one of grade {row.grade}, without a reason",
                    "use the better grade, or say why not on that line",
                )


def _same_basis(row: Disagreement, spec: Spec) -> bool:
    mine, other = row.basis, spec.basis
    return (mine.density or other.density) == (other.density or mine.density) and (
        mine.scope or other.scope
    ) == (other.scope or mine.scope)


def _check_disagreement(row: Disagreement, tables: PageTables, out: Collector) -> None:
    where = f"{tables.path}:{row.line}"
    if not row.reason.strip():
        out.add(
            where,
            "disagreement_reason",
            f"{row.metric or 'the row'} is not used and does not say why",
            "fill the column 'Not used because'",
        )
    keys = tables.keys_of(row.source)
    if not keys:
        out.add(where, "source_missing", f"{row.metric or 'the row'} names no source",
                "name a [key] of '## Sources'")  # fmt: skip
    for key in keys:
        if key not in tables.sources:
            out.add(where, "source_key", f"the source [{key}] does not stand in '## Sources'",
                    "add it there, or correct the key")  # fmt: skip


def _check_exceptions(tables: PageTables, metrics: set[str], out: Collector) -> None:
    for row in tables.exceptions:
        where = f"{tables.path}:{row.line}"
        if row.check not in _FREEABLE:
            known = "is no check" if row.check not in CHECKS else "is a check without exceptions"
            out.add(where, "exception_row", f"{row.check!r} {known}",
                    f"use {' or '.join(_FREEABLE)}")  # fmt: skip
        if row.metric not in metrics:
            out.add(where, "exception_row", f"{row.metric!r} does not stand on this page",
                    "name a metric of the table of specs")  # fmt: skip
        if not row.reason.strip():
            out.add(where, "exception_row", "the exception gives no reason",
                    "say why the check does not hold here")  # fmt: skip
        if not any(key in tables.sources for key in tables.keys_of(row.source)):
            out.add(where, "exception_row", "the exception names no source of '## Sources'",
                    "name a [key]")  # fmt: skip


def _check_ceilings(chip: Chip, out: Collector) -> None:
    for spec in chip.specs:
        measured = spec.base_value
        if not spec.measured or measured is None:
            continue
        if not spec.metric.endswith("_bandwidth") and not spec.metric.startswith("peak_"):
            continue
        density = spec.basis.density or "dense"
        peak = next(
            (
                other
                for other in chip.specs
                if other.metric == spec.metric
                and not other.measured
                and other.base_value is not None
                and other.basis.density in (None, density)
                and other.basis.scope == (spec.basis.scope or other.basis.scope)
                and other.basis.accumulate in (None, spec.basis.accumulate)
            ),
            None,
        )
        if peak is None or QUANTITY[peak.unit] != QUANTITY[spec.unit]:
            continue
        if measured > to_base(float(peak.value or 0.0), peak.unit):
            out.add(
                f"{spec.citation.path}:{spec.citation.line}",
                "measured_ceiling",
                f"{spec.metric} measured at {spec.value:g} {spec.unit} exceeds the peak of "
                f"{peak.value:g} {peak.unit} (gpu-wiki/{peak.citation.path}:"
                f"L{peak.citation.line})",
                "measure again (cache hits and a wrong clock both do this), or correct the peak",
            )
