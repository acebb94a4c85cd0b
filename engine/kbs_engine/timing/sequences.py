"""A confidence sequence for a median: an interval that may be looked at after every block.

For independent blocks with median m, the number of blocks above m is Binomial(n, 1/2). The
mixture of all betting fractions, B(s + 1, n - s + 1) / (1/2)^n, is a non-negative martingale
that starts at 1, so by Ville's inequality it ever reaches 1/alpha with probability at most
alpha (Ville 1939; for quantiles: Howard and Ramdas, Bernoulli 28(3), 2022). Values of m where it
has not done so form the interval: two order statistics, free of any distribution, valid at
every n at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def log_evidence(above: int, count: int) -> float:
    """Log of the mixture martingale after ``above`` of ``count`` blocks lay above the value."""
    log_beta = (
        math.lgamma(above + 1.0) + math.lgamma(count - above + 1.0) - math.lgamma(count + 2.0)
    )
    return log_beta + count * math.log(2.0)


def trimmed(count: int, alpha: float) -> int | None:
    """How many blocks may lie beyond either end of the interval; None while it is unbounded."""
    limit = math.log(1.0 / alpha)
    if log_evidence(0, count) < limit:
        return None
    beyond = 0
    while log_evidence(beyond + 1, count) >= limit:
        beyond += 1
    return beyond


def median_interval(values: Sequence[float], alpha: float) -> tuple[float, float]:
    """The interval of the median after these blocks; ±inf while they say nothing yet."""
    beyond = trimmed(len(values), alpha)
    if beyond is None:
        return -math.inf, math.inf
    ordered = sorted(values)
    return ordered[beyond], ordered[-1 - beyond]
