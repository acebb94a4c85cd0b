"""Records of a comparison of two launches."""

from __future__ import annotations

import math

import msgspec

SCHEMA_VERSION = 1


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One share of a term; the parts of a term add up to it."""

    id: str
    log: float
    first: float | None
    second: float | None
    unit: str = ""

    @property
    def factor(self) -> float:
        """What it multiplies the speed of B by, against A."""
        return math.exp(self.log)


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One reason for the difference. ``log`` > 0 makes B faster than A, < 0 slower."""

    id: str
    words: str
    log: float
    """Its share of ln(time A / time B)."""
    unit: str
    first: float | None
    """The measured quantity on side A."""
    second: float | None
    parts: tuple[Part, ...] = ()

    @property
    def factor(self) -> float:
        """What it multiplies the speed of B by, against A."""
        return math.exp(self.log)


class OpcodeChange(msgspec.Struct, frozen=True, kw_only=True):
    """An opcode whose executed count changed from A to B."""

    opcode: str
    change: str
    """``appeared``, ``vanished``, ``grew`` or ``shrank``."""
    first: float
    second: float


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared: one launch, or several summed as one call."""

    name: str
    launches: tuple[int, ...]
    time_ns: float
    chip: str | None = None
    source: str = ""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """ln(time A / time B) = Σ terms + unexplained."""

    first: Side
    second: Side
    speed_ratio: float
    """time A / time B: above 1, B is the faster."""
    log_ratio: float
    terms: tuple[Term, ...]
    unexplained: Term
    opcodes: tuple[OpcodeChange, ...] = ()
    missing: tuple[str, ...] = ()
    """Sections of the profiler that would explain more."""
    notes: tuple[str, ...] = ()
