"""How likely a method helps here: a Beta posterior over past outcomes, discounted by distance.

Outcomes are counted per machine (``Tally``), so that an index of a million of them can count
for itself and hand over one row per method and machine; the constants here are its constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

import msgspec

from kbs_engine.days import read_day
from kbs_engine.outcomes import Outcome
from kbs_engine.recommendations import OutcomeCounts

PRIOR_HELPED: Final = 1.0
PRIOR_FAILED: Final = 1.0
"""Prior strength: two pseudo-outcomes, one each way, so the prior mean is 0.5."""

HALF_LIFE_DAYS: Final = 90.0

UNDATED: Final = 0.5
"""Age weight of an outcome without a date: one half-life."""

NEAR, SAME_ARCH, ANYWHERE = 1.0, 0.5, 0.2
"""Weight of an outcome: same family, language, arch and limiter; same arch; anywhere."""

UNVERIFIED: Final = 0.5
"""Further discount of records without correctness and integrity verdicts."""

MACHINE_CAP: Final = 3.0
"""However many rows a machine has, together they count for at most three of its best."""

UNDECIDED: Final = "inseparable"
"""The verdict that speaks neither for nor against a method."""

Z_80: Final = 1.2816
"""Normal quantile that leaves 10 % on either side."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Where a method would be used."""

    family: str | None = None
    language: str | None = None
    arch: str | None = None
    limiter: str | None = None
    source_hash: str | None = None


class Chance(msgspec.Struct, frozen=True, kw_only=True):
    """Posterior mean with an 80 % interval, and the outcomes behind it."""

    mean: float
    low: float
    high: float
    counts: OutcomeCounts


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of one method on one machine, weighed; tallies add up."""

    rows: int = 0
    helped_rows: int = 0
    total: float = 0.0
    """Sum of all weights."""
    largest: float = 0.0
    helped: float = 0.0
    """Weights of the rows that helped, and below of those that did not; undecided is in neither."""
    failed: float = 0.0
    gain: float = 0.0
    """Sum of weight × gain over the rows that helped and say by how much."""
    gain_weight: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(
            rows=self.rows + other.rows,
            helped_rows=self.helped_rows + other.helped_rows,
            total=self.total + other.total,
            largest=max(self.largest, other.largest),
            helped=self.helped + other.helped,
            failed=self.failed + other.failed,
            gain=self.gain + other.gain,
            gain_weight=self.gain_weight + other.gain_weight,
        )


Tallies = Mapping[str, Tally]
"""Tallies of one method by machine."""


def distance_weight(outcome: Outcome, context: Context) -> float:
    """How much an outcome from elsewhere says about ``context``."""
    same_arch = context.arch is not None and outcome.arch == context.arch
    near = (
        same_arch
        and outcome.kernel == context.family
        and outcome.language == context.language
        and outcome.limiter == context.limiter
    )
    return NEAR if near else SAME_ARCH if same_arch else ANYWHERE


def age_weight(outcome: Outcome, as_of: date) -> float:
    """Half of the weight is lost every 90 days; an undated outcome counts as one half-life."""
    day = read_day(outcome.date)
    if day is None:
        return UNDATED
    age = (as_of - day).days
    return math.pow(0.5, max(age, 0) / HALF_LIFE_DAYS)


def machine_of(outcome: Outcome) -> str:
    """The machine that an outcome counts for."""
    return outcome.machine or outcome.origin


def tally(outcomes: Iterable[Outcome], context: Context, *, as_of: date) -> dict[str, Tally]:
    """Outcomes of one method, weighed and summed by machine."""
    found: dict[str, Tally] = {}
    for row in outcomes:
        weight = distance_weight(row, context) * age_weight(row, as_of)
        weight *= 1.0 if row.verified else UNVERIFIED
        helped = weight if row.helped else 0.0
        known = helped if row.gain is not None else 0.0
        one = Tally(
            rows=1,
            helped_rows=int(row.helped),
            total=weight,
            largest=weight,
            helped=helped,
            failed=0.0 if row.helped or row.verdict == UNDECIDED else weight,
            gain=known * (row.gain or 0.0),
            gain_weight=known,
        )
        machine = machine_of(row)
        found[machine] = found[machine] + one if machine in found else one
    return found


def posterior(tallies: Tallies) -> Chance:
    """Beta posterior of one method.

    Many rows of one machine never outvote many machines: each machine's weights are scaled to
    at most its largest weight times the logarithm of its count plus one, and that to three.
    """
    helped = failed = 0.0
    for _, item in sorted(tallies.items()):
        if item.total > 0:
            cap = min(1 + math.log(item.rows), MACHINE_CAP)
            scale = min(1.0, item.largest * cap / item.total)
            helped += item.helped * scale
            failed += item.failed * scale
    a, b = PRIOR_HELPED + helped, PRIOR_FAILED + failed
    mean = a / (a + b)
    spread = Z_80 * math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return Chance(
        mean=mean,
        low=max(0.0, mean - spread),
        high=min(1.0, mean + spread),
        counts=OutcomeCounts(
            helped=sum(item.helped_rows for item in tallies.values()),
            tried=sum(item.rows for item in tallies.values()),
            machines=len(tallies),
        ),
    )


def realised_gain(tallies: Tallies) -> float | None:
    """Share of time that the method returned where it helped; None if unsaid.

    Each machine counts once, with the weighted mean of its rows; of the machines the lower
    median is taken, what at least half of them reached, so that no machine moves it far.
    """
    means = sorted(
        item.gain / item.gain_weight for item in tallies.values() if item.gain_weight > 0
    )
    return means[(len(means) - 1) // 2] if means else None


def telling_machines(tallies: Tallies) -> int:
    """Machines that say by how much the method helped."""
    return sum(item.gain_weight > 0 for item in tallies.values())


def chance_of(outcomes: Sequence[Outcome], context: Context, *, as_of: date) -> Chance:
    """Beta posterior of one method from its outcomes."""
    return posterior(tally(outcomes, context, as_of=as_of))
