"""What a wiki says, as records."""

from __future__ import annotations

from typing import Any

import msgspec

from kbs_engine.facts import Chip, Citation
from kbs_engine.methods import Method
from kbs_engine.metrics import MetricMap
from kbs_engine.signatures import Signature
from kbs_engine.symptoms import SymptomRule

SCHEMA_VERSION = 1


class Feature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An architecture feature and who has it."""

    meaning: str
    archs: tuple[str, ...]
    source: str
    notes: str = ""


class SignatureFile(msgspec.Struct, frozen=True, kw_only=True):
    """The signature of one method, as read and as written."""

    signature: Signature
    raw: dict[str, Any]
    citation: Citation
    probes_line: int = 0
    """The line of ``probes:``, 0 without one."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A published case: free-form, with what it names."""

    id: str
    title: str
    raw: dict[str, Any]
    citation: Citation


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of text that search returns. ``heading`` is the path from the page's title."""

    kind: str
    """hardware, limits, measured, spec, isa, profiling, method, method_words, symptom,
    symptom_words, case, example or page."""
    owner: str
    """Id of the method, symptom, chip or case that it belongs to, else empty."""
    path: str
    line: int
    title: str
    heading: tuple[str, ...] = ()
    text: str
    axis: str = ""
    languages: tuple[str, ...] = ()
    archs: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Where it stands; unique in one index."""
        return f"{self.path}:L{self.line}" + (f"#{self.owner}" if self.kind == "case" else "")


class ChipPage(msgspec.Struct, frozen=True, kw_only=True):
    """A chip with the names that it shares with others."""

    chip: Chip
    ambiguous: tuple[str, ...] = ()
    exceptions: tuple[tuple[str, str], ...] = ()
    """Checks that a metric need not pass, with a sourced reason on the page."""


class Wiki(msgspec.Struct, frozen=True, kw_only=True):
    """All roots together. Later roots have replaced what they redefine."""

    chips: dict[str, ChipPage] = msgspec.field(default_factory=dict)
    rules: dict[str, SymptomRule] = msgspec.field(default_factory=dict)
    methods: dict[str, Method] = msgspec.field(default_factory=dict)
    groups: tuple[frozenset[str], ...] = ()
    features: dict[str, Feature] = msgspec.field(default_factory=dict)
    signatures: dict[str, SignatureFile] = msgspec.field(default_factory=dict)
    metric_maps: dict[str, MetricMap] = msgspec.field(default_factory=dict)
    cases: dict[str, Case] = msgspec.field(default_factory=dict)
    chunks: tuple[Chunk, ...] = ()
    files: dict[str, str] = msgspec.field(default_factory=dict)
    """Citation path to content hash."""
    shadows: tuple[str, ...] = ()
    """Pages that replace another of their id and state other values, one line each."""
