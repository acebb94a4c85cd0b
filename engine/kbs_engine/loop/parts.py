"""Small records that asks and answers share."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kbs_engine.jobs import SourceRef


class Tunable(msgspec.Struct, frozen=True, kw_only=True):
    """One tunable as the marks of a source tell it."""

    name: str
    current: Any
    values: tuple[Any, ...]
    inferred: bool = False


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """One method switch of a source."""

    method: str
    name: str
    on: bool


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A variant to write: tunables by name, switches by method id."""

    tunables: dict[str, Any] = msgspec.field(default_factory=dict)
    switches: dict[str, bool] = msgspec.field(default_factory=dict)


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate whose text lies in the blob store."""

    source: SourceRef
    name: str = ""
    methods: tuple[str, ...] = ()
    tuning: str = ""
    """The one of the methods that its tunables carry out, with no switch of its own."""
    note: str = ""
    template: str = ""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asked of a run: more versions, other constraints, a fresh start, reports."""

    kind: Literal["extend", "set", "restart", "finalize"]
    iterations: int = 0
    changes: dict[str, Any] = msgspec.field(default_factory=dict)
    """Settings to change, by field name, as builtins."""
    reason: str = ""
    at: str = ""
    """When it was given, ISO 8601 in UTC."""
