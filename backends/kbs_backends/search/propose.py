"""The next assignments of a search: seeds, then neighbours of the best, then a sampler.

A small space is enumerated outward from the best assignment so far. In a large one every second
proposal is a neighbour of the best, and the others come from Optuna's tree-structured Parzen
estimator, told everything that was measured. Nothing depends on the clock or on chance: the same
arguments give the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import prod
from typing import Any, Final

from kbs_backends.search.sampler import Sampler
from kbs_engine.loop.branching import Assignment, Space, Trial, assignments, key_of

ENUMERATED: Final = 64
"""Spaces of at most so many assignments are walked through and never sampled."""
FEW: Final = 4
"""Timed assignments below which a sampler knows nothing that neighbours do not tell."""


def propose_variants(
    spaces: Sequence[Space],
    seen: Sequence[Trial],
    seeds: Iterable[Mapping[str, Any]],
    k: int,
    *,
    skip: Sequence[Mapping[str, Any]] = (),
    seed: int = 0,
) -> tuple[Assignment, ...]:
    """At most ``k`` valid assignments that were not seen, the most promising first.

    Args:
        spaces: the tunables of the source.
        seen: assignments that were tried, with their times in ns; None for those that were wrong
            or did not fit.
        seeds: assignments that did well in similar contexts; they come first.
        k: how many are wanted; fewer when the space is used up.
        skip: assignments that need no trial and of which no comparable time is known.
        seed: of the sampler.
    """
    best = _best(spaces, seen)
    centred = [_centred(space, best) for space in spaces]
    tried = [*(row.assignment for row in seen), *skip]
    near = chain(
        assignments(centred, seeds=tuple(seeds), tried=tried),
        (dict(row) for row in _whole(spaces) if _small(spaces)),
    )
    known = {key_of(row, best) for row in tried}
    if _small(spaces) or sum(row.time_ns is not None for row in seen) < FEW:
        return tuple(_fresh(near, known, best, k))
    return tuple(_fresh(_mixed(spaces, seen, near, k, seed), known, best, k))


def _best(spaces: Sequence[Space], seen: Sequence[Trial]) -> Assignment:
    """The fastest assignment seen, what it leaves open at the current value."""
    current = {space.name: space.current for space in spaces}
    timed = [row for row in seen if row.time_ns is not None]
    if not timed:
        return current
    fastest = min(timed, key=lambda row: (row.time_ns, key_of(row.assignment, current)))
    allowed = {space.name: {repr(value) for value in space.values} for space in spaces}
    kept = {
        name: value
        for name, value in fastest.assignment.items()
        if repr(value) in allowed.get(name, ())
    }
    return {**current, **kept}


def _centred(space: Space, best: Mapping[str, Any]) -> Space:
    return Space(name=space.name, current=best[space.name], values=space.values)


def _small(spaces: Sequence[Space]) -> bool:
    return prod(len(space.values) for space in spaces) <= ENUMERATED


def _whole(spaces: Sequence[Space]) -> Iterator[Mapping[str, Any]]:
    names = [space.name for space in spaces]
    for values in product(*(space.values for space in spaces)):
        yield dict(zip(names, values, strict=True))


def _mixed(
    spaces: Sequence[Space], seen: Sequence[Trial], near: Iterator[Assignment], k: int, seed: int
) -> Iterator[Assignment]:
    """A neighbour and a sampled assignment in turn; neighbours alone once the sampler repeats."""
    sampler = Sampler(spaces, seen, seed=seed)
    for _ in range(4 * k):
        row = next(near, None)
        if row is not None:
            yield row
        yield sampler.ask()
    yield from near


def _fresh(
    rows: Iterable[Assignment], known: set[Any], best: Mapping[str, Any], k: int
) -> Iterator[Assignment]:
    """The first ``k`` rows that nobody saw, each once."""
    found = 0
    for row in rows:
        if found >= k:
            return
        key = key_of(row, best)
        if key not in known:
            known.add(key)
            found += 1
            yield row
