"""How likely a method helps here: a Beta posterior over past outcomes, discounted by distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import Final

import msgspec

from kbs_engine.outcomes import Outcome
from kbs_engine.recommendations import OutcomeCounts

PRIOR_HELPED: Final = 1.0
PRIOR_FAILED: Final = 1.0
"""Prior strength: two pseudo-outcomes, one each way, so the prior mean is 0.5."""

HALF_LIFE_DAYS: Final = 90.0

NEAR, SAME_ARCH, ANYWHERE = 1.0, 0.5, 0.2
"""Weight of an outcome: same family, language, arch and limiter; same arch; anywhere."""

UNVERIFIED: Final = 0.5
"""Further discount of records without correctness and integrity verdicts."""

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
    try:
        age = (as_of - date.fromisoformat(outcome.date[:10])).days
    except ValueError:
        return 0.5
    return math.pow(0.5, max(age, 0) / HALF_LIFE_DAYS)


def chance_of(outcomes: Sequence[Outcome], context: Context, *, as_of: date) -> Chance:
    """Beta posterior of one method.

    Evidence of one machine counts as its mean, so that many rows of one machine never
    outvote many machines: each machine's weights are scaled to at most its largest weight
    times the logarithm of its count plus one.
    """
    helped = failed = 0.0
    for rows in _by_machine(outcomes).values():
        weights = [
            distance_weight(row, context)
            * age_weight(row, as_of)
            * (1.0 if row.verified else UNVERIFIED)
            for row in rows
        ]
        total = sum(weights)
        if total == 0:
            continue
        cap = max(weights) * (1 + math.log(len(rows)))
        scale = min(1.0, cap / total)
        for row, weight in zip(rows, weights, strict=True):
            if row.verdict == "inseparable":
                continue
            if row.helped:
                helped += weight * scale
            else:
                failed += weight * scale
    return _posterior(helped, failed, outcomes)


def _by_machine(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.machine or outcome.origin, []).append(outcome)
    return groups


def _posterior(helped: float, failed: float, outcomes: Sequence[Outcome]) -> Chance:
    a, b = PRIOR_HELPED + helped, PRIOR_FAILED + failed
    mean = a / (a + b)
    spread = Z_80 * math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))
    return Chance(
        mean=mean,
        low=max(0.0, mean - spread),
        high=min(1.0, mean + spread),
        counts=OutcomeCounts(
            helped=sum(row.helped for row in outcomes),
            tried=len(outcomes),
            machines=len({row.machine or row.origin for row in outcomes}),
        ),
    )
