"""Outcome records in the append-only segments ``experience/*.jsonl`` of the home folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.outcomes import Outcome


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is no outcome; it never stops the rest."""

    file: str
    line: int
    reason: str


class StoredOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome with its id and where it stands."""

    id: str
    segment: str
    line: int
    outcome: Outcome


class Segments(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of segments holds."""

    outcomes: tuple[StoredOutcome, ...]
    bad: tuple[BadLine, ...]
    sizes: dict[str, int]
    hashes: dict[str, str]
    others: int = 0
    """Records of other kinds (masks, replications), which this module leaves alone."""


def read_segments(folder: Path, known: Mapping[str, int] | None = None) -> Segments:
    """Read all segments; those whose size is as in ``known`` are taken as read and skipped.

    A segment only grows, so an equal size means equal content. The same record in two
    segments counts once.
    """
    outcomes: dict[str, StoredOutcome] = {}
    bad: list[BadLine] = []
    sizes: dict[str, int] = {}
    hashes: dict[str, str] = {}
    others = 0
    for path in sorted(folder.glob("*.jsonl")):
        size = path.stat().st_size
        if known is not None and known.get(path.name) == size:
            continue
        data = path.read_bytes()
        sizes[path.name] = len(data)
        hashes[path.name] = hashlib.sha256(data).hexdigest()
        for found in _lines(data, path.name):
            if isinstance(found, StoredOutcome):
                outcomes.setdefault(found.id, found)
            elif isinstance(found, BadLine):
                bad.append(found)
            else:
                others += 1
    ordered = tuple(sorted(outcomes.values(), key=lambda item: item.id))
    return Segments(outcomes=ordered, bad=tuple(bad), sizes=sizes, hashes=hashes, others=others)


def _lines(data: bytes, name: str) -> Iterator[StoredOutcome | BadLine | None]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield _record(line, name, number)
        except (msgspec.DecodeError, msgspec.ValidationError, ValueError) as problem:
            yield BadLine(file=f"experience/{name}", line=number, reason=str(problem))


def _record(line: bytes, name: str, number: int) -> StoredOutcome | None:
    """An outcome, bare or under ``outcome``; None for a record of another ``kind``."""
    value: Any = msgspec.json.decode(line)
    if not isinstance(value, dict):
        msg = "not a JSON object"
        raise ValueError(msg)  # noqa: TRY004 - a bad line is one kind of failure
    if value.get("kind", "outcome") != "outcome":
        return None
    body = value.get("outcome", value)
    outcome = msgspec.convert(body, Outcome)
    given = value.get("id")
    id_ = given if isinstance(given, str) and given else content_id(outcome)
    return StoredOutcome(id=id_, segment=name, line=number, outcome=outcome)


def content_id(outcome: Outcome) -> str:
    """Hash of the content without the origin: the same record from two teams is one."""
    body = msgspec.to_builtins(outcome)
    body.pop("origin", None)
    return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).hexdigest()
