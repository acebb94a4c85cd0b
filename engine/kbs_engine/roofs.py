"""Records of the roofline: what bounds the algorithm, what limits the kernel, what is left."""

from __future__ import annotations

from typing import Literal

import msgspec

from kbs_engine.vocabulary import Bound, Limiter

SCHEMA_VERSION = 1


class Roof(msgspec.Struct, frozen=True, kw_only=True):
    """One ceiling and the time that the work takes under it."""

    kind: Literal["memory", "compute"]
    basis: Literal["cited", "measured", "placeholder"]
    """A placeholder was given by the user where the wiki has no value; it is no spec."""
    metric: str
    value: float
    """In base units: bytes/s or FLOP/s, after scaling to ``clock_hz`` where that is set."""
    unit: Literal["B/s", "FLOP/s"]
    time_ns: float
    clock_hz: float | None = None
    """The clock that the ceiling was scaled to; None when it stands as cited."""
    cited_value: float
    """The value before scaling, in the same unit."""
    citation: str
    """The spec citation line."""
    grade: str = ""


class Roofline(msgspec.Struct, frozen=True, kw_only=True):
    """The three notions, never mixed: algorithm_bound, limiter, gap (architecture.md)."""

    time_ns: float | None
    time_source: Literal["profiler", "timer", "none"] = "none"
    algorithm_bound: Bound = "unknown"
    arithmetic_intensity: float | None = None
    ridge: float | None = None
    """FLOP per byte at which both cited roofs take the same time."""
    limiter: Limiter = "unknown"
    limiter_share: float | None = None
    """Busy share (0–1) of the limiter against its own ceiling."""
    roofs: tuple[Roof, ...] = ()
    fixed_ns: float | None = None
    """Time of an empty launch on this chip, measured; None when nobody measured it."""
    fixed_citation: str = ""
    model_ns: float | None = None
    """fixed_ns + the largest roof time, at measured ceilings where known."""
    model_cited_ns: float | None = None
    model_measured_ns: float | None = None
    gap: float | None = None
    """Δ = 1 − model/time, at least 0."""
    gap_memory: float | None = None
    gap_compute: float | None = None
    gap_latency: float | None = None
    near_peak: bool = False
    near_peak_reason: str = ""
    binding: Literal["memory", "compute", "none", "unknown"] = "unknown"
    """The roof that really binds: ``none`` when the kernel runs far from every roof."""
    work_doubted: bool = False
    """The stated work cannot be that of this launch; nothing may rest on it."""
    flags: tuple[str, ...] = ()
