"""Optimization methods as the wiki describes them."""

from __future__ import annotations

from typing import Any

import msgspec

from kbs_engine.facts import Citation
from kbs_engine.symptoms import Source
from kbs_engine.vocabulary import Direction, Dtype, Family, Language, MethodAxis, Status

SCHEMA_VERSION = 1

MECHANISM_CHARACTERS = 40
"""A shorter `because` names no mechanism."""


class AvoidWhen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An anti-strategy: do not use the method when ``when`` holds, because of ``because``."""

    id: str
    when: str
    needs: tuple[str, ...]
    because: str
    source: str

    def __post_init__(self) -> None:
        """Refuse an anti-strategy without a mechanism."""
        if len(self.because) < MECHANISM_CHARACTERS:
            msg = f"`because` of {self.id} is too short to state a mechanism"
            raise ValueError(msg)


class Method(msgspec.Struct, frozen=True, kw_only=True):
    """One optimization with what it needs, cures and risks."""

    id: str
    title: str
    axis: MethodAxis
    priority: int
    languages: tuple[Language, ...]
    addresses: dict[str, float]
    """Symptom id to weight: the share of the symptom's recoverable time it can return."""
    requires: tuple[str, ...] = ()
    dtypes: tuple[Dtype, ...] = ()
    needs_permitted: tuple[Dtype, ...] = ()
    """Lowers precision: the task must permit one of these."""
    kernels: tuple[Family, ...] = ()
    not_kernels: tuple[Family, ...] = ()
    prerequisites: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    complements: tuple[str, ...] = ()
    tunables: tuple[dict[str, Any], ...] = ()
    moves: dict[str, Direction] = msgspec.field(default_factory=dict)
    signature: str | None = None
    status: Status
    measured: tuple[dict[str, Any], ...] = ()
    avoid_when: tuple[AvoidWhen, ...] = ()
    sources: tuple[Source, ...] = ()
    citation: Citation

    def __post_init__(self) -> None:
        """Weights are shares, and a claim to have been exercised shows its result."""
        for symptom, weight in self.addresses.items():
            if not 0.0 < weight <= 1.0:
                msg = f"weight of {symptom} in {self.id} is {weight}, outside 0–1"
                raise ValueError(msg)
        if self.status == "exercised" and not self.measured:
            msg = f"{self.id} claims status exercised without a measured result"
            raise ValueError(msg)
