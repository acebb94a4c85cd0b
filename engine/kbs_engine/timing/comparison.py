"""How much faster one arm is than another, with an interval that is meant to hold.

Block level: a moving-block bootstrap of the median of the block log-ratios, so that slow
drifts between blocks widen the interval. Process level: a process pair shifts all its blocks
by an offset (addresses, clocks) that no number of calls averages out. Three pairs cannot be
resampled honestly, so this level is a Student term on the pair medians, with a prior for the
offset where there are few pairs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final, Literal

import msgspec
import numpy as np

from kbs_engine.results import Timed
from kbs_engine.timing.blocks import block_log_ratios, data_seed, timer_step_ns
from kbs_engine.timing.clocks import check_gain
from kbs_engine.timing.special import student_t_quantile

SCHEMA_VERSION = 1

NOISE: Final = 0.02
"""Default noise threshold: effects within 2 % are not called faster or slower."""

CONFIDENCE: Final = 0.95
DRAWS: Final = 1000
PRIOR_SHARE: Final = 0.25
"""The prior deviation of a process offset, as a share of the noise threshold."""
PRIOR_DEGREES: Final = 4.0
"""How many observed pairs the prior counts for."""
ENOUGH_PAIRS: Final = 3
NORMAL_975: Final = 1.959964
POWER_Z: Final = 0.8416 / NORMAL_975
"""Normal quantiles: 80 % power over a two-sided 95 % interval."""

Direction = Literal["faster", "slower", "within noise"]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Speedup of arm a over arm b: time of b / time of a; above 1, a is the faster one."""

    ratio: float
    """exp of the mean over process pairs of the median block log-ratio."""
    low: float
    high: float
    verdict: Direction
    """Of a, against b; only when the whole interval lies beyond the noise threshold."""
    smallest_detectable: float
    """The smallest effect (0.03 = 3 %) that this run finds with 80 % probability."""
    pairs: int
    """Blocks in which both arms took the same turns."""
    process_pairs: int
    noise: float = NOISE
    confidence: float = CONFIDENCE
    process_noise: float = 0.0
    """Deviation of the process offset that the interval allows for, in log units."""
    timer_step_ns: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def excludes_one(self) -> bool:
        """Whether the raw interval excludes 1, which is not yet a verdict."""
        return self.low > 1.0 or self.high < 1.0


def compare(
    timed: Timed,
    a: int,
    b: int,
    *,
    noise: float = NOISE,
    process_noise: float | None = None,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Speedup of arm ``a`` over arm ``b`` (time of b / time of a) from interleaved samples.

    ``process_noise`` is the deviation of the process offset where it was measured
    (``calibration.process_noise``); without it a quarter of ``noise`` is assumed.

    Raises:
        MeasurementError: An arm was refused or has no samples, or they never took turns.
    """
    return compare_ratios(
        block_log_ratios(timed, a, b),
        noise=noise,
        process_noise=process_noise,
        confidence=confidence,
        resolution=resolution(timed, (a, b)),
        notes=(*_clock_notes(timed), *_gain_notes(timed, a, b)),
    )


class Resolution(msgspec.Struct, frozen=True):
    """The step of the timer, and the log-ratio that it may hide."""

    step_ns: float = 0.0
    log: float = 0.0


def resolution(timed: Timed, arms: Sequence[int]) -> Resolution:
    """What the timer's step may hide in the times of these arms; zero where noise dithers it."""
    step = timer_step_ns(timed, arms)
    if not step:
        return Resolution()
    shortest = min(float(np.median(timed.arms[i].samples_ns)) for i in arms)
    return Resolution(step, math.log1p(step / shortest))


def compare_ratios(
    ratios: dict[int, np.ndarray],
    *,
    noise: float = NOISE,
    process_noise: float | None = None,
    confidence: float = CONFIDENCE,
    resolution: Resolution | None = None,
    notes: tuple[str, ...] = (),
) -> Comparison:
    """The comparison from block log-ratios per process pair (``block_log_ratios``)."""
    step = resolution or Resolution()
    medians = np.array([np.median(values) for values in ratios.values()])
    centre = float(medians.mean())
    low, high, offset = _interval(ratios, medians, noise, process_noise, confidence)
    low, high = low - step.log, high + step.log
    threshold = math.log1p(noise)
    half = max(high - centre, centre - low)
    return Comparison(
        ratio=math.exp(centre),
        low=math.exp(low),
        high=math.exp(high),
        verdict="faster" if low > threshold else "slower" if high < -threshold else "within noise",
        smallest_detectable=math.expm1(threshold + half * (1.0 + POWER_Z)),
        pairs=sum(values.size for values in ratios.values()),
        process_pairs=len(ratios),
        noise=noise,
        confidence=confidence,
        process_noise=offset,
        timer_step_ns=step.step_ns,
        notes=(*notes, *_pair_notes(len(ratios))),
    )


def _interval(
    ratios: dict[int, np.ndarray],
    medians: np.ndarray,
    noise: float,
    process_noise: float | None,
    confidence: float,
) -> tuple[float, float, float]:
    seed, sign = data_seed(ratios)
    rng = np.random.default_rng(seed)
    draws = np.stack([_bootstrap_medians(values, rng) for values in ratios.values()])
    offset, degrees = _offset(draws, medians, noise, process_noise)
    pairs = len(medians)
    alpha = (1.0 - confidence) / 2.0
    term = offset / math.sqrt(pairs) * _student_draws(degrees, rng) * sign
    low, high = (float(v) for v in np.quantile(draws.mean(axis=0) + term, [alpha, 1.0 - alpha]))
    centre = float(medians.mean())
    low, high = min(low, centre), max(high, centre)
    if pairs >= ENOUGH_PAIRS:
        spread = float(medians.std(ddof=1)) / math.sqrt(pairs)
        half = student_t_quantile(1.0 - alpha, pairs - 1.0) * spread
        low, high = min(low, centre - half), max(high, centre + half)
    return low, high, offset


def _bootstrap_medians(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Medians of circular moving-block resamples; blocks of n^(1/3) neighbours."""
    count = values.size
    length = max(1, round(count ** (1.0 / 3.0)))
    starts = rng.integers(0, count, size=(DRAWS, -(-count // length)))
    index = (starts[:, :, None] + np.arange(length)) % count
    resampled = values[index.reshape(DRAWS, -1)[:, :count]]
    centre = float(np.median(values))
    drawn: np.ndarray = np.median(resampled, axis=1) - centre
    return centre + drawn * _few_chunks(count / length)


@functools.lru_cache(maxsize=256)
def _few_chunks(chunks: float) -> float:
    """By how much a bootstrap of so few independent chunks is too narrow: t over normal."""
    return student_t_quantile(0.975, max(1.0, chunks - 1.0)) / NORMAL_975


def _offset(
    draws: np.ndarray, medians: np.ndarray, noise: float, process_noise: float | None
) -> tuple[float, float]:
    """Deviation of the process offset and its degrees of freedom: prior and pairs together."""
    prior = PRIOR_SHARE * math.log1p(noise) if process_noise is None else process_noise
    more = len(medians) - 1
    if more == 0:
        return prior, PRIOR_DEGREES
    within = float(draws.var(axis=1).mean())
    between = max(0.0, float(medians.var(ddof=1)) - within)
    degrees = PRIOR_DEGREES + more
    return math.sqrt((PRIOR_DEGREES * prior**2 + more * between) / degrees), degrees


_TABLES: dict[float, np.ndarray] = {}


def _student_draws(degrees: float, rng: np.random.Generator) -> np.ndarray:
    """The quantiles of Student's t at evenly spaced probabilities, in random order.

    Symmetric by construction, so that two identical arms get a symmetric interval.
    """
    if degrees not in _TABLES:
        upper = [0.0]
        for i in range(DRAWS // 2):
            share = 0.5 + (i + 0.5) / DRAWS
            upper.append(student_t_quantile(share, degrees, at_least=upper[-1]))
        del upper[0]
        _TABLES[degrees] = np.array([-v for v in reversed(upper)] + upper)
    shuffled: np.ndarray = rng.permutation(_TABLES[degrees])
    return shuffled


def _pair_notes(pairs: int) -> tuple[str, ...]:
    if pairs >= ENOUGH_PAIRS:
        return ()
    return (f"{pairs} process pair{'s' * (pairs > 1)}; a final claim needs {ENOUGH_PAIRS}",)


def _gain_notes(timed: Timed, a: int, b: int) -> tuple[str, ...]:
    found = check_gain(timed, a, b)
    return () if found is None or found.ok else (f"the clocks disagree: {found.detail}",)


def _clock_notes(timed: Timed) -> tuple[str, ...]:
    before, after = timed.clocks_before_mhz, timed.clocks_after_mhz
    return tuple(
        f"{name} clock went from {before[name]:g} to {after[name]:g} MHz during the timing"
        for name in sorted(before.keys() & after.keys())
        if before[name] > 0 and abs(after[name] / before[name] - 1.0) > NOISE
    )
