"""Where a search begins: tunables that did well in similar contexts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from kbs_engine.outcomes import Outcome
from kbs_engine.vocabulary import Dtype, Family, Language, Limiter

SEEDS: Final = 3


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """The context that is searched in."""

    family: Family
    language: Language
    arch: str = ""
    dims_class: str = ""
    dtype: Dtype | None = None
    limiter: Limiter = "unknown"


def seeds_for(
    outcomes: Iterable[Outcome], place: Place, *, most: int = SEEDS
) -> tuple[dict[str, Any], ...]:
    """Assignments of effective outcomes of the same family and language, the nearest first.

    Nearest is: the same architecture, then the same dims by powers of two, then the same data
    type, then the same limiter; among equals the larger gain, and at last the assignment itself,
    so that the order of a log does not matter. Each assignment comes once.
    """
    rows = [
        row
        for row in outcomes
        if row.tunables
        and row.helped
        and row.language == place.language
        and row.kernel == place.family
    ]
    rows.sort(
        key=lambda row: (
            row.arch != place.arch,
            row.dims_class != place.dims_class,
            row.dtype != place.dtype,
            row.limiter != place.limiter,
            -(row.gain or 0.0),
            row.method,
            sorted((name, str(value)) for name, value in row.tunables.items()),
        )
    )
    found: list[dict[str, Any]] = []
    for row in rows:
        if len(found) == most:
            break
        if dict(row.tunables) not in found:
            found.append(dict(row.tunables))
    return tuple(found)
