"""The limiter: the unit that is busiest against its own ceiling, or latency."""

from __future__ import annotations

from typing import Final

import msgspec

from kbs_engine.metrics import usable
from kbs_engine.vocabulary import Limiter

BUSY_PCT: Final = 60.0
"""Below this every unit waits for something: Nsight's own rule for latency-bound kernels."""

TIE_PCT: Final = 5.0
"""Units this close count as equally busy; then the one earlier in ``UNITS`` is named."""

UNITS: Final[tuple[tuple[str, Limiter], ...]] = (
    ("dram_pct", "dram"),
    ("tensor_pct", "tensor"),
    ("fp64_pct", "fp64"),
    ("xu_pct", "xu"),
    ("fma_pct", "fma"),
    ("alu_pct", "alu"),
    ("shared_pct", "shared"),
    ("l2_pct", "l2"),
    ("l1_pct", "l1"),
    ("lsu_pct", "lsu"),
    ("issue_active_pct", "issue"),
)
"""Deepest first: an upper cache level that only passes traffic on to a lower one, or a
scheduler that only feeds a full pipe, is not the limiter."""


_TOTALS: Final = ("memory_pct", "compute_pct")


class LimiterReading(msgspec.Struct, frozen=True, kw_only=True):
    """Which unit limits, and how busy (0–1) it is."""

    limiter: Limiter
    share: float | None
    metric: str | None = None


def find_limiter(metrics: dict[str, float]) -> LimiterReading:
    """Name the limiter from canonical metrics.

    ``unknown`` when no unit was measured, or one reads what cannot be, so that the busiest is
    not known; ``mixed`` when only the two speed-of-light totals were; ``latency`` when every
    measured unit is under 60 %.
    """
    shares = {name: metrics[name] for name in (*dict(UNITS), *_TOTALS) if name in metrics}
    if len(usable(shares)) < len(shares):
        return LimiterReading(limiter="unknown", share=None)
    return _busiest(metrics)


def _busiest(metrics: dict[str, float]) -> LimiterReading:
    busy = [(metrics[name], name, unit) for name, unit in UNITS if name in metrics]
    hidden = _hidden(metrics, max((value for value, _, _ in busy), default=0.0))
    if hidden is not None:
        return hidden
    if not busy:
        totals = [metrics[name] for name in _TOTALS if name in metrics]
        if not totals:
            return LimiterReading(limiter="unknown", share=None)
        top = max(totals)
        limiter: Limiter = "mixed" if top >= BUSY_PCT else "latency"
        return LimiterReading(limiter=limiter, share=min(top / 100, 1.0))
    top = max(value for value, _, _ in busy)
    if top < BUSY_PCT and not _both_sides(metrics):
        return LimiterReading(limiter="unknown", share=None)
    if top < BUSY_PCT:
        name = next(name for value, name, _ in busy if value == top)
        return LimiterReading(limiter="latency", share=top / 100, metric=name)
    value, name, unit = next(row for row in busy if row[0] >= top - TIE_PCT)
    return LimiterReading(limiter=unit, share=min(value / 100, 1.0), metric=name)


def busy_share(limiter: str, share: float, metrics: dict[str, float]) -> float:
    """The share as it was measured: one above 1, which cannot be, is told and not clipped."""
    names = [name for name, unit in UNITS if unit == limiter]
    names += ["memory_pct", "compute_pct"] if limiter == "mixed" else []
    return max([share, *(metrics[name] / 100 for name in names if name in metrics)])


def _hidden(metrics: dict[str, float], top: float) -> LimiterReading | None:
    """A speed-of-light total above every measured unit: the busy unit is not among them."""
    for name in ("compute_pct", "memory_pct"):
        total = metrics.get(name, 0.0)
        if total >= BUSY_PCT and total > top + TIE_PCT:
            return LimiterReading(limiter="mixed", share=min(total / 100, 1.0), metric=name)
    return None


def _both_sides(metrics: dict[str, float]) -> bool:
    """Latency may be named only where a memory unit and an arithmetic unit were measured."""
    memory = {"memory_pct", "dram_pct"} & metrics.keys()
    arithmetic = {"compute_pct", "issue_active_pct", "tensor_pct", "fma_pct"} & metrics.keys()
    return bool(memory and arithmetic)
