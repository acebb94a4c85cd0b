"""Canonical metrics and how a vendor's names become them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

SCHEMA_VERSION = 1

MetricUnit = Literal["ns", "bytes", "bytes_per_s", "hz", "pct", "count", "ratio"]
SHARE_LIMIT_PCT = 105.0
"""A share may exceed 100 % a little through replay noise."""

DURATION: Final = "duration_ns"
"""Time of a launch on the device."""

Alternatives = tuple[str, ...]
"""Vendor names of one quantity; the first that is present counts."""


class MetricRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one canonical metric is read from a vendor's names.

    ``names`` first present wins; else ``sum`` (all terms present), ``max`` (of those present),
    ``ratio`` (numerator, denominator; absent when the denominator is 0), in this order.
    """

    unit: MetricUnit
    description: str
    names: Alternatives = ()
    sum: tuple[Alternatives, ...] = ()
    max: Alternatives = ()
    ratio: tuple[Alternatives, ...] = ()
    scale: float = 1.0
    labels: Alternatives = ()
    """Display labels of the details page and older spellings."""
    section: str = ""
    """The section that ncu must collect for it."""
    min_arch: int | None = None
    max_arch: int | None = None
    """Compute capability × 10 within which the vendor names mean this."""


class MetricMap(msgspec.Struct, frozen=True, kw_only=True):
    """All rules of one vendor."""

    vendor: Literal["nvidia", "amd"]
    metrics: dict[str, MetricRule]

    def vendor_names(self) -> frozenset[str]:
        """Every vendor name that any rule reads."""
        names: set[str] = set()
        for rule in self.metrics.values():
            names.update(rule.names, rule.max)
            for term in (*rule.sum, *rule.ratio):
                names.update(term)
        return frozenset(names)


def _first(raw: dict[str, float], names: Alternatives) -> float | None:
    return next((raw[name] for name in names if name in raw), None)


def _value(rule: MetricRule, raw: dict[str, float]) -> float | None:
    direct = _first(raw, rule.names)
    if direct is not None:
        return direct
    if rule.sum:
        terms = [_first(raw, term) for term in rule.sum]
        present = [term for term in terms if term is not None]
        if len(present) == len(terms):
            return sum(present)
    if rule.max:
        present = [raw[name] for name in rule.max if name in raw]
        if present:
            return max(present)
    if rule.ratio:
        top, bottom = (_first(raw, term) for term in rule.ratio)
        if top is not None and bottom:
            return top / bottom
    return None


def canonical(
    metric_map: MetricMap, raw: dict[str, float], *, arch: int | None = None
) -> dict[str, float]:
    """Rename vendor metrics (base units) to canonical ones; what is absent stays absent."""
    found: dict[str, float] = {}
    for name, rule in metric_map.metrics.items():
        if arch is not None and (
            (rule.min_arch is not None and arch < rule.min_arch)
            or (rule.max_arch is not None and arch > rule.max_arch)
        ):
            continue
        value = _value(rule, raw)
        if value is not None:
            found[name] = value * rule.scale
    return found


def drop_no_durations(metrics: dict[str, float]) -> tuple[str, ...]:
    """Remove durations that are not positive or not finite: they measured nothing.

    Nothing takes no time, so such a value would only make ratios, shares and ranks of itself.
    Returns a note for each.
    """
    value = metrics.get(DURATION)
    if value is None or (math.isfinite(value) and value > 0):
        return ()
    del metrics[DURATION]
    return (f"{DURATION} is {value:g}, which is no duration: taken as not measured",)


def usable(metrics: Mapping[str, float]) -> dict[str, float]:
    """What a decision may rest on: no negative value, and no share far above 100 %."""
    return {
        name: value
        for name, value in metrics.items()
        if value >= 0 and not (name.endswith("_pct") and value > SHARE_LIMIT_PCT)
    }


def impossible(metric_map: MetricMap, metrics: dict[str, float]) -> tuple[str, ...]:
    """Doubts about values that cannot be: percentages outside 0–100, negative counts.

    Values are kept as they are.
    """
    doubts = []
    for name, value in metrics.items():
        rule = metric_map.metrics.get(name)
        unit = rule.unit if rule else "count"
        if value < 0:
            doubts.append(f"{name} is negative ({value:g})")
        elif unit == "pct" and value > SHARE_LIMIT_PCT:
            doubts.append(f"{name} is {value:.4g} %, above 100 %")
    return tuple(doubts)
