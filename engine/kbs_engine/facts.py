"""Hardware facts: every value with its basis, its source and the line that states it."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from kbs_engine.units import QUANTITY, SPEC_UNITS, to_base

SCHEMA_VERSION = 1

Grade = Literal["A", "B", "C", "D"]
"""A vendor text, B public copy of a vendor document, C third party, D measured."""

UNKNOWN_NOTE = "UNKNOWN (gpu-wiki not found)"

NO_UNIT = "no such unit"
"""The remark of a page on a unit that the part does not have."""


class Citation(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """The place in the wiki that states something: ``gpu-wiki/<path>:L<line>``."""

    path: str
    line: int

    def __post_init__(self) -> None:
        """Refuse a path that leaves the wiki and a line below 1."""
        parts = self.path.split("/")
        if self.path.startswith("/") or "\\" in self.path or ".." in parts or "" in parts:
            msg = f"a citation path stays inside its wiki, got {self.path!r}"
            raise ValueError(msg)
        if self.line < 1:
            msg = f"line numbers start at 1, got {self.line}"
            raise ValueError(msg)

    def __str__(self) -> str:
        """The form that the audit reads."""
        return f"gpu-wiki/{self.path}:L{self.line}"


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """Under which conditions a value holds."""

    density: Literal["dense", "sparse"] | None = None
    accumulate: str | None = None
    scope: Literal["chip", "die", "unit", "block", "thread"] | None = None
    clock_hz: float | None = None
    direction: Literal["both", "one"] | None = None
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The tokens as a page writes them."""
        parts = [
            self.density or "",
            f"{self.accumulate} accumulate" if self.accumulate else "",
            f"per {self.scope}" if self.scope else "",
            f"clock {self.clock_hz / 1e6:g} MHz" if self.clock_hz else "",
            {"both": "both directions", "one": "one direction", None: ""}[self.direction],
            *self.remarks,
        ]
        return "; ".join(part for part in parts if part)


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a hardware page. ``value`` None is UNKNOWN; a word for types and targets."""

    chip: str
    metric: str
    words: str
    value: float | str | None
    unit: str = ""
    basis: Basis = Basis()
    source: str = ""
    grade: Grade | None = None
    citation: Citation
    measured: bool = False
    placeholder: bool = False
    """A value that a person stood in for: marked wherever it is shown, never called a spec."""

    def __post_init__(self) -> None:
        """Refuse numbers without source, unknown units, and values that are not finite."""
        if self.unit not in SPEC_UNITS:
            msg = f"unit {self.unit!r} of {self.metric} is not one of {', '.join(SPEC_UNITS)}"
            raise ValueError(msg)
        if isinstance(self.value, float) and not math.isfinite(self.value):
            msg = f"{self.metric} is not a finite number"
            raise ValueError(msg)
        if self.value is not None and not self.source:
            msg = f"{self.metric} of {self.chip} has no source"
            raise ValueError(msg)
        if self.metric.startswith("peak_") and self.value is not None and not self.basis.density:
            msg = f"{self.metric} of {self.chip} does not say dense or sparse"
            raise ValueError(msg)

    @property
    def base_value(self) -> float | None:
        """The number in base units (bytes, bytes/s, ops/s, Hz, ns), or None."""
        return to_base(self.value, self.unit) if isinstance(self.value, float) else None

    @property
    def quantity(self) -> str:
        """What the unit measures."""
        return QUANTITY[self.unit]

    def cite(self, chip_name: str = "") -> str:
        """The spec citation line: ``<metric>: <value> <unit> <- gpu-wiki/<path>:L<line>``."""
        special = (
            "sparse" if self.basis.density == "sparse" else "",
            "per die" if self.basis.scope == "die" else "",
        )
        label = " ".join(part for part in (chip_name, self.words or self.metric, *special) if part)
        if self.value is None:
            return f"{label}: {UNKNOWN_NOTE}"
        shown = f"{self.value:.12g}" if isinstance(self.value, float) else self.value
        if self.metric == "compute_capability" and isinstance(self.value, float):
            shown = f"{self.value:.1f}"
        unit = f" {self.unit}" if self.unit else ""
        origin = "(PLACEHOLDER, given by the user)" if self.placeholder else f"<- {self.citation}"
        return f"{label}: {shown}{unit} {origin}"


class Chip(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU form factor with its own and its inherited specs."""

    id: str
    name: str
    vendor: Literal["nvidia", "amd"]
    architecture: str
    arch: str
    aliases: tuple[str, ...] = ()
    specs: tuple[Spec, ...] = ()
    citation: Citation

    def find(self, metric: str, *, density: str = "dense", measured: bool = False) -> Spec | None:
        """The used value of ``metric``, or None when it is UNKNOWN or absent.

        Sparse rows and rows per die are never returned for a chip-wide dense question.
        """
        rows = self._rows(metric, density, measured=measured)
        return next((spec for spec in rows if spec.basis.scope != "die"), None)

    def find_device(self, metric: str, *, measured: bool = False) -> Spec | None:
        """The dense value for what software sees as one device: one die of a split part."""
        rows = self._rows(metric, "dense", measured=measured)
        die = [spec for spec in rows if spec.basis.scope == "die"]
        return die[0] if self.device_is_die and die else self.find(metric, measured=measured)

    def _rows(self, metric: str, density: str, *, measured: bool) -> list[Spec]:
        return [
            spec
            for spec in self.specs
            if spec.metric == metric
            and spec.value is not None
            and spec.measured == measured
            and spec.basis.density in (None, density)
        ]

    @property
    def device_is_die(self) -> bool:
        """Whether a kernel runs on one die of the part: its page then states bandwidth per die."""
        return any(
            spec.metric == "memory_bandwidth" and spec.basis.scope == "die" for spec in self.specs
        )

    def lacks(self, metric: str) -> bool:
        """Whether the page says that the part has no such unit at all (not merely UNKNOWN)."""
        return any(
            spec.metric == metric and spec.value is None and NO_UNIT in spec.basis.remarks
            for spec in self.specs
        )

    def number(self, metric: str) -> float | None:
        """The used chip-wide value of ``metric`` in base units, or None."""
        spec = self.find(metric)
        return None if spec is None else spec.base_value

    def device_number(self, metric: str) -> float | None:
        """The value of ``metric`` in base units for one device, or None."""
        spec = self.find_device(metric)
        return None if spec is None else spec.base_value
