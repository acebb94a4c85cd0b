"""Whether the intervals hold: judged on recorded comparisons whose truth is known.

A kernel compared with itself (A/A) must rarely look different; a kernel that was slowed by a
known amount must be found. These are functions over recordings: they measure nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from kbs_engine.results import ArmTimes, Timed
from kbs_engine.timing.blocks import block_log_ratios
from kbs_engine.timing.comparison import Comparison
from kbs_engine.timing.special import binomial_lower, binomial_upper

SCHEMA_VERSION = 1


class SelfComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A/A: how often an interval was wrong about a kernel compared with itself."""

    comparisons: int
    excluded: int
    """Raw intervals that exclude 1."""
    share: float
    upper_bound: float
    """One-sided 95 % Clopper-Pearson bound of the share."""
    false_wins: int
    """Verdicts other than "within noise" under the noise threshold."""
    false_wins_upper_bound: float
    noise: float
    median_half_width: float
    """Median half width of the intervals, as a relative effect."""


class PowerPoint(msgspec.Struct, frozen=True, kw_only=True):
    """How often a known slowdown was found."""

    effect: float
    """0.05: the slowed kernel takes 5 % longer, by construction or by its own measurement."""
    comparisons: int
    found: int
    share: float
    lower_bound: float
    """One-sided 95 % Clopper-Pearson bound of the share."""
    covered: int
    """Intervals that contain the true effect."""


def self_comparison(results: Sequence[Comparison]) -> SelfComparison:
    """Sum up comparisons of kernels with themselves.

    Raises:
        ValueError: There are none, or their noise thresholds differ.
    """
    thresholds = {result.noise for result in results}
    if len(thresholds) != 1:
        msg = f"{len(results)} comparisons under {len(thresholds)} noise thresholds"
        raise ValueError(msg)
    excluded = sum(result.excludes_one for result in results)
    wins = sum(result.verdict != "within noise" for result in results)
    widths = [math.expm1(math.log(result.high / result.low) / 2.0) for result in results]
    return SelfComparison(
        comparisons=len(results),
        excluded=excluded,
        share=excluded / len(results),
        upper_bound=binomial_upper(excluded, len(results)),
        false_wins=wins,
        false_wins_upper_bound=binomial_upper(wins, len(results)),
        noise=thresholds.pop(),
        median_half_width=float(np.median(widths)),
    )


def power(effect: float, results: Sequence[Comparison]) -> PowerPoint:
    """Share of comparisons ``compare(timed, original, slowed)`` that found the original faster.

    Raises:
        ValueError: There are no comparisons.
    """
    if not results:
        msg = "no comparisons"
        raise ValueError(msg)
    found = sum(result.verdict == "faster" for result in results)
    return PowerPoint(
        effect=effect,
        comparisons=len(results),
        found=found,
        share=found / len(results),
        lower_bound=binomial_lower(found, len(results)),
        covered=sum(result.low <= 1.0 + effect <= result.high for result in results),
    )


def process_noise(recorded: Iterable[Timed], a: int = 0, b: int = 1) -> float | None:
    """Deviation of the offset between process pairs, in log units, from A/A recordings.

    The variance of pair medians within each recording, less what their blocks explain
    (variance of a median of n blocks: π/2 · s²/n). None without two pairs anywhere.
    """
    excess: list[float] = []
    for timed in recorded:
        pairs = list(block_log_ratios(timed, a, b).values())
        if len(pairs) > 1:
            medians = [float(np.median(values)) for values in pairs]
            within = [_variance(values) * math.pi / 2.0 / values.size for values in pairs]
            excess.append(float(np.var(medians, ddof=1)) - float(np.mean(within)))
    return math.sqrt(max(0.0, float(np.mean(excess)))) if excess else None


def _variance(values: np.ndarray) -> float:
    """Robust variance of blocks: outliers of the host do not count as noise of the median."""
    if values.size < 2:  # noqa: PLR2004 - one block has no spread
        return 0.0
    spread = float(np.subtract(*np.percentile(values, [75, 25])))
    return (spread / 1.349) ** 2


def cut(timed: Timed, calls: int) -> tuple[Timed, ...]:
    """A long recording as several short ones of ``calls`` samples of every arm.

    Samples keep their order, process and position; a rest that is too short is left out.
    """
    shortest = min(len(arm.samples_ns) for arm in timed.arms)
    return tuple(
        msgspec.structs.replace(
            timed, arms=tuple(_part(arm, start, start + calls) for arm in timed.arms)
        )
        for start in range(0, shortest - calls + 1, calls)
    )


def slowed(timed: Timed, arm: int, effect: float) -> Timed:
    """The recording with one arm's samples multiplied by 1 + effect: real noise, known truth."""
    target = timed.arms[arm]
    samples = tuple(value * (1.0 + effect) for value in target.samples_ns)
    name = f"{target.name} slowed by {effect:.0%} in the record"
    changed = msgspec.structs.replace(target, name=name, samples_ns=samples)
    arms = (*timed.arms[:arm], changed, *timed.arms[arm + 1 :])
    return msgspec.structs.replace(timed, arms=arms)


def _part(arm: ArmTimes, start: int, stop: int) -> ArmTimes:
    return msgspec.structs.replace(
        arm,
        samples_ns=arm.samples_ns[start:stop],
        process=arm.process[start:stop],
        position=arm.position[start:stop],
        host_ns=arm.host_ns[start:stop],
    )
