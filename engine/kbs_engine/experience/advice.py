"""Methods ranked by what past outcomes say of them, with the wiki's ranking for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from kbs_engine.chance import Tallies, posterior, realised_gain, telling_machines
from kbs_engine.recommendations import OutcomeCounts, Recommendation

UNSAID_GAIN: Final = 0.1
"""Gain assumed for a method that helped where no record says by how much."""

UNKNOWN_FIT: Final = 0.5
"""A method that no page of the wiki knows keeps this share of the least fit of those that apply."""

UNKNOWN: Final = "no page of the wiki knows it"


class Advised(msgspec.Struct, frozen=True, kw_only=True):
    """One method: score = chance × gain × fit, the gain realised before or foreseen by the wiki."""

    method: str
    title: str
    score: float
    chance: float
    """Mean of the posterior that it helps here."""
    interval: tuple[float, float]
    gain: float
    """Expected share of time returned."""
    gain_from: Literal["outcomes", "wiki", "assumed"]
    fit: float
    outcomes: OutcomeCounts
    citations: tuple[str, ...] = ()
    filtered: str = ""
    """Why the wiki would not use it here, where it would not."""
    tunables: dict[str, int | float | str | bool] = {}
    """What was chosen when it returned most, for a search to begin with."""
    notes: tuple[str, ...] = ()
    """What lowers its fit or its gain, in words."""
    examples: tuple[str, ...] = ()
    """Ids of the outcomes that are nearest."""


def advise(
    evidence: Mapping[str, Tallies],
    foreseen: Sequence[Recommendation],
    titles: Mapping[str, str],
    filtered: Mapping[str, str],
) -> list[Advised]:
    """Every method with outcomes or that the wiki recommends, best first.

    A gain that one machine alone tells is taken up to the largest that several machines agree on
    for any method, or up to what the wiki foresees: no machine alone outranks several.

    Args:
        evidence: past outcomes weighed for the place, by method and machine.
        foreseen: the wiki's recommendations for the place.
        titles: of the methods that the wiki knows; any other is called by its id.
        filtered: methods that a hard filter removed, with the reason; they are listed last.
    """
    wiki = {row.method: row for row in foreseen}
    bounds = _Bounds(
        gain=max(filter(None, map(_agreed, evidence.values())), default=None),
        fit=UNKNOWN_FIT * min((row.fit for row in foreseen), default=1.0),
    )
    rows = [
        _advised(
            name, evidence.get(name, {}), wiki.get(name), titles, filtered.get(name, ""), bounds
        )
        for name in sorted(evidence.keys() | wiki.keys())
    ]
    return sorted(rows, key=lambda row: (bool(row.filtered), -row.score, row.method))


class _Bounds(NamedTuple):
    """The gain that one machine alone is believed, and the fit of a method without a page."""

    gain: float | None
    fit: float


def _agreed(tallies: Tallies) -> float | None:
    """The realised gain of a method where several machines tell one, and it is one."""
    gain = realised_gain(tallies) if telling_machines(tallies) > 1 else None
    return gain if gain is not None and gain > 0 else None


def _advised(
    name: str,
    tallies: Tallies,
    wiki: Recommendation | None,
    titles: Mapping[str, str],
    filtered: str,
    bounds: _Bounds,
) -> Advised:
    chance = posterior(tallies)
    gain = realised_gain(tallies)
    notes: list[str] = []
    if gain is not None and bounds.gain is not None and telling_machines(tallies) == 1:
        believed = max(bounds.gain, wiki.gain if wiki else 0.0)
        if gain > believed:
            notes.append(
                f"one machine alone tells a gain of {gain:.3g}; taken as {believed:.3g}, "
                "the largest that several machines agree on or the wiki foresees"
            )
            gain = believed
    source: Literal["outcomes", "wiki", "assumed"] = "outcomes"
    if gain is None:
        gain, source = (wiki.gain, "wiki") if wiki else (UNSAID_GAIN, "assumed")
    fit = wiki.fit if wiki else 1.0
    if wiki is None and name not in titles:
        fit = bounds.fit
        notes.append(UNKNOWN)
    return Advised(
        method=name,
        title=titles.get(name, name.replace("_", " ")),
        score=chance.mean * max(gain, 0.0) * fit,
        chance=chance.mean,
        interval=(chance.low, chance.high),
        gain=gain,
        gain_from=source,
        fit=fit,
        outcomes=chance.counts,
        citations=wiki.citations if wiki else (),
        notes=tuple(notes),
        filtered=filtered,
    )
