"""P-values behind intervals, and Holm's correction over several methods."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kbs_engine.timing.comparison import PRIOR_DEGREES, Comparison
from kbs_engine.timing.special import student_t_cdf, student_t_quantile

ALPHA = 0.05


def p_beyond_noise(comparison: Comparison) -> float:
    """Two-sided p-value of "the effect is within the noise threshold".

    It is the interval, inverted: the p-value is below 1 - confidence exactly when the whole
    interval lies beyond the threshold. Tails are Student's, with the degrees of freedom of the
    process level, which is where the evidence is thinnest.
    """
    centre = math.log(comparison.ratio)
    near = math.log(comparison.low if centre >= 0 else comparison.high)
    half = abs(centre - near)
    excess = abs(centre) - math.log1p(comparison.noise)
    if half == 0.0:
        return 0.0 if excess > 0.0 else 1.0
    degrees = PRIOR_DEGREES + comparison.process_pairs - 1
    quantile = student_t_quantile(1.0 - (1.0 - comparison.confidence) / 2.0, degrees)
    return min(1.0, 2.0 * (1.0 - student_t_cdf(excess / half * quantile, degrees)))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment: monotone, never below the raw value, never above 1."""
    adjusted: dict[str, float] = {}
    largest = 0.0
    ordered = sorted(p_values.items(), key=lambda item: (item[1], item[0]))
    for index, (name, p_value) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - index) * p_value))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}
