"""One file of a merge, read and judged: what a process of its own can do."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from kbs_engine.experience.records import (
    CANONICAL,
    Entry,
    Mask,
    Replication,
    Unmask,
    unread,
    write_line,
)
from kbs_ingest.experience.lines import (
    BadLine,
    Found,
    is_array,
    parse_array,
    parse_lines,
    read_bytes,
)
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.telling import Claims
from kbs_ingest.experience.view import plain_outcome

KEY_BYTES = 32
_NO_LOG = (
    "nothing in this file is a record: a segment has one a line, an older log is a JSON array, "
    "alone or under entries, experiences, records or log"
)
"""Of a file that is none of ours; a last line that a crash cut short is told of no other file."""
_UNREAD = "kept as it came, with fields that this kbs does not know: "


class Source(NamedTuple):
    """A file to merge, under the name that messages use."""

    label: str
    path: Path
    size: int


class Parsed:
    """Where the records of a file stand, and which of them are not believed.

    A record is its key and the place of its line; only a line that has to be written anew (a
    bare record, an entry of an older log) is kept as bytes.
    """

    def __init__(self, source: Source) -> None:
        """Nothing read yet."""
        self.source = source
        self.keys = bytearray()
        self.starts = array("q")
        self.lengths = array("q")
        self.origins: list[str] = []
        self.rewritten: dict[int, bytes] = {}
        self.rejected: list[BadLine] = []
        self.doubted: list[BadLine] = []
        self.unread: list[BadLine] = []
        self.claims = Claims()
        """What those that are believed by themselves say of their tasks."""
        self._numbers = array("q")
        self._entries: array[int] | None = None

    def key(self, index: int) -> bytes:
        """The id of a record, as bytes."""
        return bytes(self.keys[KEY_BYTES * index : KEY_BYTES * (index + 1)])

    def take(self, found: Found, origin: str, entry: int | None) -> int:
        """Keep where a record stands; its index. ``entry`` counts those of an array."""
        self.keys += bytes.fromhex(found.entry.id)
        self.starts.append(found.start)
        self.lengths.append(found.length)
        self.origins.append(origin)
        self._numbers.append(found.number)
        if entry is not None:
            self._entries = self._entries or array("q")
            self._entries.append(entry)
        return len(self.origins) - 1

    def fault(self, index: int, why: str) -> BadLine:
        """Why a record is not believed, with its place; an array may stand on one line."""
        place = f"entry {self._entries[index]}: " if self._entries else ""
        return BadLine(file=self.source.label, line=self._numbers[index], reason=place + why)

    def line(self, index: int, data: bytes) -> bytes:
        """The line of a record, without its newline; ``data`` is the file's content."""
        start = self.starts[index]
        return self.rewritten.get(index) or data[start : start + self.lengths[index]]


def parse_source(source: Source, origin: str, lore: Lore) -> Parsed:
    """Read one file: a segment or an older log.

    Raises:
        InputError: It cannot be read.
    """
    data = read_bytes(source.path)
    parsed = Parsed(source)
    names: dict[str, str] = {}
    one_line = is_array(data)  # or several: the line does not tell the entry
    for number, found in enumerate(_entries(data, source.label, origin), 1):
        if isinstance(found, BadLine):
            parsed.rejected.append(found)
            continue
        whose = found.entry.origin or origin
        entry = found.entry
        if not entry.origin:
            entry = msgspec.structs.replace(entry, origin=whose)
        line = data[found.start : found.start + found.length]
        index = parsed.take(found, names.setdefault(whose, whose), number if one_line else None)
        if one_line or not found.entry.origin or not CANONICAL.match(line):
            parsed.rewritten[index] = write_line(entry)[:-1]
        if entry.raw and (fields := unread(entry)):
            parsed.unread.append(parsed.fault(index, _UNREAD + ", ".join(fields)[:200]))
        _judge(parsed, index, entry, lore)
    if not parsed.origins and not parsed.rejected and not data.isspace() and data:
        parsed.rejected.append(BadLine(file=source.label, line=1, reason=_NO_LOG))
    return parsed


def _entries(data: bytes, label: str, origin: str) -> Iterator[Found | BadLine]:
    if is_array(data):
        return parse_array(data, label, origin)
    return parse_lines(data, label)


def _judge(parsed: Parsed, index: int, entry: Entry, lore: Lore) -> None:
    """Doubt one record by itself; keep what baselines of others may yet tell."""
    if isinstance(entry.record, (Mask, Unmask, Replication)):
        return
    outcome = lore.resolve(plain_outcome(entry))
    why = lore.doubt(outcome, {})
    if why:
        parsed.doubted.append(parsed.fault(index, why))
    elif outcome.device != "host":
        parsed.claims.add(index, outcome)
