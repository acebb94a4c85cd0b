"""Which variants of a planned source are tried: a deterministic walk over its tunables.

What the source says comes first, then assignments that past outcomes name, then one tunable
at a time, nearest values first and the tunables in turn, then two at a time. Nothing here is
drawn at random, so that a run can be replayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product, zip_longest
from typing import Any, Final

import msgspec

Assignment = dict[str, Any]

BRANCHES: Final = 4


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """One tunable of a source: its value now and the values it may take."""

    name: str
    current: Any
    values: tuple[Any, ...]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """An assignment that was tried, and what came of it."""

    assignment: dict[str, Any]
    time_ns: float | None = None
    """Median time; None where it was wrong, did not fit or was refused."""


def assignments(
    spaces: Sequence[Space],
    *,
    seeds: Iterable[Mapping[str, Any]] = (),
    tried: Iterable[Mapping[str, Any]] = (),
) -> Iterator[Assignment]:
    """Every assignment worth trying, each once, most promising first.

    Args:
        spaces: the tunables.
        seeds: assignments that did well in similar contexts; what they say of tunables that
            this source lacks, or of values it does not allow, is left out.
        tried: assignments that were measured already.
    """
    current = {space.name: space.current for space in spaces}
    seen = {key_of(row, current) for row in tried}
    for row in _walk(spaces, seeds, current):
        key = key_of(row, current)
        if key not in seen:
            seen.add(key)
            yield {**current, **row}


def key_of(row: Mapping[str, Any], current: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Equal assignments have equal keys, whatever they leave at ``current``."""
    return tuple((name, repr(row.get(name, value))) for name, value in sorted(current.items()))


def _walk(
    spaces: Sequence[Space], seeds: Iterable[Mapping[str, Any]], current: Assignment
) -> Iterator[Mapping[str, Any]]:
    yield current
    allowed = {space.name: {repr(value) for value in space.values} for space in spaces}
    for seed in seeds:
        yield {n: v for n, v in seed.items() if n in allowed and repr(v) in allowed[n]}
    near = {space.name: _nearest(space) for space in spaces}
    columns = [[{space.name: value} for value in near[space.name]] for space in spaces]
    for step in zip_longest(*columns):
        yield from (row for row in step if row is not None)
    for first, second in combinations(spaces, 2):
        for a, b in product(near[first.name], near[second.name]):
            yield {first.name: a, second.name: b}


def _nearest(space: Space) -> list[Any]:
    """Values other than the current one, nearest first; up before down."""
    values = list(space.values)
    ranks = [index for index, value in enumerate(values) if repr(value) == repr(space.current)]
    here = ranks[0] if ranks else 0
    order = sorted(range(len(values)), key=lambda index: (abs(index - here), index < here))
    return [values[index] for index in order if index not in ranks]
