"""What a profiler measured: canonical metrics in base units, absent where it says nothing."""

from __future__ import annotations

import math

import msgspec

SCHEMA_VERSION = 1


class VendorRule(msgspec.Struct, frozen=True, kw_only=True):
    """One finding of the profiler's own rules."""

    rule: str
    title: str
    message: str = ""
    section: str = ""
    estimated_speedup_pct: float | None = None
    scope: str = ""
    """``global`` when the estimate is for the kernel, ``local`` for one unit."""


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel launch as profiled.

    ``metrics`` maps canonical names (docs/vocabulary.md) to values in the base unit that the
    name states; what was not measured, or read ``n/a`` or ``nan``, is absent.
    """

    name: str
    launch: int
    metrics: dict[str, float]
    chip: str | None = None
    """The device name as the report prints it, for example ``NVIDIA H100 80GB HBM3``."""
    compute_capability: str | None = None
    sections: tuple[str, ...] = ()
    vendor_rules: tuple[VendorRule, ...] = ()
    flags: tuple[str, ...] = ()
    """Doubts about this profile, in words: impossible values, units that were guessed."""
    source: str = ""
    """The file that it was read from."""

    def __post_init__(self) -> None:
        """Refuse values that are not finite; absence is absence, never NaN."""
        for name, value in self.metrics.items():
            if not math.isfinite(value):
                msg = f"{name} of launch {self.launch} is {value}; leave it out instead"
                raise ValueError(msg)

    @property
    def time_ns(self) -> float | None:
        """Device time of the launch."""
        return self.metrics.get("duration_ns")

    @property
    def dram_bytes(self) -> float | None:
        """Bytes that device memory really moved, when both directions were counted."""
        read, write = self.metrics.get("dram_read_bytes"), self.metrics.get("dram_write_bytes")
        return None if read is None or write is None else read + write


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All launches of one report, in order."""

    path: str
    format: str
    """How it was read: ``ncu-rep``, ``ncu-raw-csv``, …"""
    profiles: tuple[Profile, ...]
    tool_version: str = ""
    notes: tuple[str, ...] = ()
    reported: dict[int, int] = {}
    """What the report itself calls the launches whose id occurs more than once, by their
    number here; all other launches keep their id."""
