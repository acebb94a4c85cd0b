"""Quantiles that the intervals need: Student's t and the beta distribution.

The engine depends on numpy alone; these few lines spare it scipy. Formulas: regularised
incomplete beta by its continued fraction (DLMF 8.17.22, evaluated with Lentz's method).
"""

from __future__ import annotations

import math
from collections.abc import Callable

_STEPS = 300
_TINY = 1e-300
_CLOSE = 1e-14


def incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), the distribution function of Beta(a, b) at ``x`` in 0..1."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - math.exp(log_front) * _fraction(b, a, 1.0 - x) / b
    return math.exp(log_front) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _STEPS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + term / c
            c = c if abs(c) > _TINY else _TINY
            value *= d * c
        if abs(d * c - 1.0) < _CLOSE:
            break
    return value


def _solve(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """The x in low..high where an increasing ``function`` reaches ``target``."""
    for _ in range(200):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (middle, high) if function(middle) < target else (low, middle)
    return (low + high) / 2.0


def student_t_cdf(value: float, degrees: float) -> float:
    """P(T ≤ value) of Student's t with ``degrees`` of freedom."""
    tail = incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + value * value)) / 2.0
    return 1.0 - tail if value > 0 else tail


def student_t_density(value: float, degrees: float) -> float:
    """The density of Student's t with ``degrees`` of freedom."""
    log_front = math.lgamma((degrees + 1.0) / 2.0) - math.lgamma(degrees / 2.0)
    log_tail = (degrees + 1.0) / 2.0 * math.log1p(value * value / degrees)
    return math.exp(log_front - log_tail) / math.sqrt(math.pi * degrees)


def student_t_quantile(probability: float, degrees: float, *, at_least: float = 0.0) -> float:
    """The t below which ``probability`` (0..1, ends excluded) of the distribution lies.

    Newton's method: above 0 the distribution function is concave, so that from a value below
    the quantile each step ends below it too, and they need no bound.

    Args:
        probability: 0..1, ends excluded.
        degrees: of freedom.
        at_least: a value from 0 to the quantile, where one is known, to start from; only for
            a ``probability`` of at least 0.5.
    """
    if probability < 0.5:  # noqa: PLR2004 - the median
        return -student_t_quantile(1.0 - probability, degrees)
    value = at_least
    for _ in range(_STEPS):
        missing = probability - student_t_cdf(value, degrees)
        further = value + missing / student_t_density(value, degrees)
        if further <= value * (1.0 + _CLOSE):
            break
        value = further
    return value


def binomial_upper(successes: int, trials: int, confidence: float = 0.95) -> float:
    """One-sided upper Clopper-Pearson bound of a share: the Beta(x + 1, n - x) quantile."""
    _check(successes, trials)
    if successes == trials:
        return 1.0
    a, b = successes + 1.0, float(trials - successes)
    return _solve(lambda x: incomplete_beta(a, b, x), confidence, 0.0, 1.0)


def binomial_lower(successes: int, trials: int, confidence: float = 0.95) -> float:
    """One-sided lower Clopper-Pearson bound of a share."""
    return 1.0 - binomial_upper(trials - successes, trials, confidence)


def _check(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials or trials < 1:
        msg = f"{successes} of {trials} is no share"
        raise ValueError(msg)
