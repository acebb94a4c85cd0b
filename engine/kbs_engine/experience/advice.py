"""Methods ranked by what past outcomes say of them, with the wiki's ranking for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from kbs_engine.chance import Tallies, posterior, realised_gain
from kbs_engine.recommendations import OutcomeCounts, Recommendation

UNSAID_GAIN = 0.1
"""Gain assumed for a method that helped where no record says by how much."""


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
    examples: tuple[str, ...] = ()
    """Ids of the outcomes that are nearest."""


def advise(
    evidence: Mapping[str, Tallies],
    foreseen: Sequence[Recommendation],
    titles: Mapping[str, str],
    filtered: Mapping[str, str],
) -> list[Advised]:
    """Every method with outcomes or that the wiki recommends, best first.

    Args:
        evidence: past outcomes weighed for the place, by method and machine.
        foreseen: the wiki's recommendations for the place.
        titles: of methods; one that the wiki does not know is called by its id.
        filtered: methods that a hard filter removed, with the reason; they are listed last.
    """
    wiki = {row.method: row for row in foreseen}
    rows = [
        _advised(name, evidence.get(name, {}), wiki.get(name), titles, filtered.get(name, ""))
        for name in sorted(evidence.keys() | wiki.keys())
    ]
    return sorted(rows, key=lambda row: (bool(row.filtered), -row.score, row.method))


def _advised(
    name: str,
    tallies: Tallies,
    wiki: Recommendation | None,
    titles: Mapping[str, str],
    filtered: str,
) -> Advised:
    chance = posterior(tallies)
    gain = realised_gain(tallies)
    source: Literal["outcomes", "wiki", "assumed"] = "outcomes"
    if gain is None:
        gain, source = (wiki.gain, "wiki") if wiki else (UNSAID_GAIN, "assumed")
    fit = wiki.fit if wiki else 1.0
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
        filtered=filtered,
    )
