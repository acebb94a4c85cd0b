"""A sibling's bandwidth, power or capacity on a page that itself speaks of another figure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kbs_engine.errors import WikiError
from kbs_engine.facts import Spec
from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.wikicheck.conditions import family_of
from kbs_ingest.wikicheck.model import Collected, Collector
from kbs_ingest.wikicheck.peaks import SAME, Part, near, parts_of, shown

METRICS = ("memory_bandwidth", "memory_capacity", "tdp")
FAR = 0.05
"""A figure of the page that is further away than this contradicts the used value."""
_FIGURE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?(TB/s|GB/s|GiB|GB|W)(?![\w/])")
_LEAD = re.compile(r"^# .*?\n(?P<lead>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def check_siblings(wiki: Collected, out: Collector) -> None:
    """Only the page itself can decide: its Disagreements and the figures of its first words."""
    parts = list(parts_of(wiki))
    leads = _leads(wiki)
    for part in parts:
        family = family_of(part, parts)
        for row in part.own:
            if row.metric not in METRICS or row.basis.scope == "die":
                continue
            told = _contradicts(part, row, leads.get(part.tables.path, ""))
            twin = _twin(row, family)
            if not told or twin is None or part.tables.exception("sibling_value", row.metric):
                continue
            out.add(
                f"{row.citation.path}:{row.citation.line}",
                "sibling_value",
                f"{row.metric} {shown(row)} is the value of {twin.chip} "
                f"(gpu-wiki/{twin.citation.path}:L{twin.citation.line}), and the page itself "
                f"speaks of {told}",
                "give the figure of this form factor, or add a sourced row `sibling_value` "
                "under Exceptions",
            )


def _leads(wiki: Collected) -> dict[str, str]:
    """What stands between a page's title and its first section."""
    found = {}
    for file in wiki.files:
        if file.path in wiki.tables:
            try:
                lead = _LEAD.search(file.text())
            except WikiError:  # the reader has told it
                continue
            found[file.path] = lead["lead"] if lead else ""
    return found


def _contradicts(part: Part, row: Spec, lead: str) -> str:
    """The page's other figures of this metric, when the used value is far from all of them."""
    value = row.base_value or 0.0
    figures = list(_figures(part, row, lead))
    if any(near(value, figure, FAR) for figure, _ in figures):
        return ""
    return ", ".join(text for _, text in figures)


def _figures(part: Part, row: Spec, lead: str) -> Iterator[tuple[float, str]]:
    for other in part.tables.disagreements:
        scope = other.basis.scope in (None, row.basis.scope)
        if other.metric == row.metric and other.value and scope:
            text = f"{other.value:g} {other.unit} (line {other.line})"
            yield to_base(other.value, other.unit), text
    for number, unit in _FIGURE.findall(lead):
        if QUANTITY[unit] == row.quantity:
            yield to_base(float(number), unit), f"{number} {unit} in its first words"


def _twin(row: Spec, family: list[Part]) -> Spec | None:
    for part in family:
        for spec in part.own:
            same = (spec.metric, spec.basis.scope) == (row.metric, row.basis.scope)
            if same and near(row.base_value or 0.0, spec.base_value or 0.0, SAME):
                return spec
    return None
