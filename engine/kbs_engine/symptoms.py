"""Symptom rules and what they found in a profile."""

from __future__ import annotations

import msgspec

from kbs_engine.facts import Citation
from kbs_engine.vocabulary import Axis

SCHEMA_VERSION = 1


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document that a page rests on."""

    title: str
    url: str = ""


class SymptomRule(msgspec.Struct, frozen=True, kw_only=True):
    """One symptom: SQL over the rows p (profile), c (call), w (work) and h (hardware)."""

    id: str
    axis: Axis
    title: str
    needs: tuple[str, ...]
    when: str
    severity: str
    recoverable: str
    message: str
    optional: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    notes: str = ""
    sources: tuple[Source, ...] = ()
    citation: Citation


class RuleResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule says of one profile. ``fired`` None: what it needs was not measured."""

    id: str
    fired: bool | None
    severity: float = 0.0
    recoverable: float = 0.0
    missing: tuple[str, ...] = ()


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A measured value that triggered something."""

    metric: str
    value: float
    unit: str


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """A symptom that is present, in words, with what it could return at most."""

    id: str
    axis: Axis
    title: str
    severity: float
    recoverable: float
    """Share of the kernel time (0–1) that curing it alone could return at most."""
    message: str
    evidence: tuple[Evidence, ...] = ()
    explains: tuple[str, ...] = ()
    """Present symptoms that are its effects."""
    explained_by: tuple[str, ...] = ()
    citation: Citation

    def __post_init__(self) -> None:
        """Severity and share stay within 0–1."""
        for name in ("severity", "recoverable"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                msg = f"{name} of {self.id} is {value}, outside 0–1"
                raise ValueError(msg)


class NotMeasurable(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that could not be asked, with what to collect."""

    id: str
    needs: tuple[str, ...]
    sections: tuple[str, ...] = ()
