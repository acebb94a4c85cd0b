"""Where a page of a later wiki replaces one of the same id and states other values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kbs_engine.facts import Spec
from kbs_ingest.wiki.hardware import SpecPage

_SHOWN = 5
_Key = tuple[str, str | None, str | None, bool]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of a replaced page whose value its replacement does not repeat."""

    page: str
    line: int
    """The page that replaces, and its row; line 1 where it has none."""
    replaced: str
    metric: str
    now: str
    before: str

    def __str__(self) -> str:
        """Both values, as both pages write them."""
        return f"{self.metric} {self.now} for {self.before}"


def differences(shadowed: Iterable[tuple[SpecPage, SpecPage]]) -> list[Difference]:
    """Every value in which a page and its replacement differ, by page and line."""
    found = []
    for old, new in shadowed:
        before, now = _rows(old.specs), _rows(new.specs)
        for key, rows in before.items():
            others = now.get(key, [])
            if {_value(row) for row in rows} == {_value(row) for row in others}:
                continue
            found.append(
                Difference(
                    page=new.citation.path,
                    line=others[0].citation.line if others else 1,
                    replaced=old.citation.path,
                    metric=" ".join(part for part in key[:3] if isinstance(part, str)),
                    now=", ".join(map(_shown, others)) or "is left out",
                    before=", ".join(map(_shown, rows)),
                )
            )
    return sorted(found, key=lambda one: (one.page, one.line, one.metric))


def notes(found: Sequence[Difference]) -> tuple[str, ...]:
    """One line for each page that replaces another and contradicts it."""
    pages: dict[tuple[str, str], list[Difference]] = {}
    for one in found:
        pages.setdefault((one.page, one.replaced), []).append(one)
    told = []
    for (page, replaced), rows in pages.items():
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        shown = "; ".join(map(str, rows[:_SHOWN]))
        told.append(f"{page} replaces {replaced} and differs from it: {shown}{more}")
    return tuple(told)


def _rows(specs: Iterable[Spec]) -> dict[_Key, list[Spec]]:
    rows: dict[_Key, list[Spec]] = {}
    for spec in specs:
        key = (spec.metric, spec.basis.density, spec.basis.accumulate, spec.measured)
        rows.setdefault(key, []).append(spec)
    return rows


def _value(spec: Spec) -> tuple[str | None, float | str | None, str]:
    """Scope, and the value in base units with what it measures."""
    number = spec.base_value
    return spec.basis.scope, spec.value if number is None else number, spec.quantity


def _shown(spec: Spec) -> str:
    if spec.value is None:
        return "UNKNOWN"
    text = f"{spec.value:.12g}" if isinstance(spec.value, float) else spec.value
    return f"{text} {spec.unit}".strip()
