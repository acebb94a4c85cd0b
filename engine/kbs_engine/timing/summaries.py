"""What is printed about the samples of one arm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from kbs_engine.errors import MeasurementError

SCHEMA_VERSION = 1


class TimingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Location and spread of samples. ``std_ns`` is the sample deviation (n - 1)."""

    median_ns: float
    mean_ns: float
    p20_ns: float
    p80_ns: float
    min_ns: float
    max_ns: float
    std_ns: float
    count: int


def checked_samples(samples_ns: Sequence[float], whose: str = "") -> np.ndarray:
    """The samples as float64, shape [n].

    Raises:
        MeasurementError: There are none, or one is not a positive finite number.
    """
    values = np.asarray(samples_ns, dtype=np.float64)
    label = f"{whose}: " if whose else ""
    if values.size == 0:
        raise MeasurementError(
            f"{label}no samples", remedy="look at why the arm was refused, or measure it"
        )
    if not bool(np.all(np.isfinite(values) & (values > 0))):
        bad = next(float(v) for v in values if not (math.isfinite(v) and v > 0))
        raise MeasurementError(
            f"{label}{bad:g} ns is no time", remedy="measure again; no timer gives such a value"
        )
    return values


def summary(samples_ns: Sequence[float]) -> TimingSummary:
    """Median, mean, quantiles (linear interpolation) and deviation of ``samples_ns``."""
    values = checked_samples(samples_ns)
    p20, median, p80 = (float(v) for v in np.percentile(values, [20, 50, 80]))
    return TimingSummary(
        median_ns=median,
        mean_ns=float(values.mean()),
        p20_ns=p20,
        p80_ns=p80,
        min_ns=float(values.min()),
        max_ns=float(values.max()),
        std_ns=float(values.std(ddof=1)) if values.size > 1 else 0.0,
        count=int(values.size),
    )
