"""What search and published cases say for a method, where words are most of what is known.

A hint is no measurement: it becomes a share of time that is assumed, beside the shares of the
symptoms that the method addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

MOST: Final = 0.7
"""Share that a method gets whose page and sayings fit the words best of all."""

PAGES, SAYINGS, SAYING_MEANING = 0.3, 2.0, 0.6
"""Weights of the ways to find a method. A method's sayings are the words of people who need it, so
they count most; vectors of long technical pages all lie near each other and are not asked."""

CASES: Final = 0.12
"""Share that published cases add where all of the near ones speak for a method, or take away."""

LIMIT: Final = 0.9

NEAREST: Final = 5
"""Published cases that vote."""

SHARPNESS: Final = 3
"""A case votes with its nearness to this power: half as near is an eighth of the voice."""

SAME_FAMILY, SAME_LANGUAGE = 0.3, 0.1
"""How much nearer a case is that speaks of the same kind of kernel, or the same language."""

NOBODY: Final = 0.5
"""Weight of all published cases together beside the nearest, so that few and far ones say
little."""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """Closeness (0-1) of a method to the words, by way."""

    pages: float = 0.0
    """Words of its page (BM25), against the best page."""
    sayings: float = 0.0
    """Words that people use who need it (BM25), against the best method."""
    saying_meaning: float = 0.0
    """The same by meaning (vectors)."""
    cases: float = 0.0
    """Vote of published cases, -1 to 1."""
    read: tuple[str, ...] = ()
    """The near cases that speak for or against it, nearest first."""
    scale: float = 1.0
    """Less than 1 where the words say that little is left."""

    @property
    def share(self) -> float:
        """Share of time (0-1) assumed for the method."""
        weights = PAGES + SAYINGS + SAYING_MEANING
        found = (
            PAGES * self.pages + SAYINGS * self.sayings + SAYING_MEANING * self.saying_meaning
        ) / weights
        return self.scale * min(max(MOST * found + CASES * self.cases, 0.0), LIMIT)


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A published case: what was tried on which kernel, and whether it helped."""

    id: str
    methods: frozenset[str]
    helped: bool
    family: str | None = None
    language: str | None = None
    source: str = ""
    """Where it was published; several cases may share it."""


class Vote(msgspec.Struct, frozen=True):
    """What published cases say of one method."""

    value: float
    read: tuple[str, ...]


def nearness(case: Published, closeness: float, family: str | None, language: str | None) -> float:
    """Closeness of the words, raised where kernel and language are the same."""
    same = SAME_FAMILY * (family is not None and case.family == family)
    same += SAME_LANGUAGE * (language is not None and case.language == language)
    return closeness * (1 + same)


def votes(cases: Iterable[Published], near: Mapping[str, float]) -> dict[str, Vote]:
    """Votes (-1 to 1) of the nearest cases, drawn towards what all cases say of the method.

    Args:
        cases: all published cases that may vote.
        near: nearness of cases by id; those without one do not vote.
    """
    everyone = list(cases)
    voters = sorted(
        (case for case in everyone if near.get(case.id, 0.0) > 0),
        key=lambda case: (-near[case.id], case.id),
    )[:NEAREST]
    weights = {case.id: near[case.id] ** SHARPNESS for case in voters}
    total = sum(weights.values()) + NOBODY
    found = {}
    for method in sorted({name for case in everyone for name in case.methods}):
        mine = [case for case in voters if method in case.methods]
        voice = sum(weights[case.id] * (1 if case.helped else -1) for case in mine)
        value = (voice + NOBODY * _prior(method, everyone)) / total
        found[method] = Vote(value, tuple(case.id for case in mine))
    return found


def _prior(method: str, cases: Iterable[Published]) -> float:
    """What all cases say of a method (-1 to 1), two more taken as undecided."""
    helped = [case.helped for case in cases if method in case.methods]
    return (2 * sum(helped) - len(helped)) / (len(helped) + 2)
