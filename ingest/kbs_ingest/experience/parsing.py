"""One file of a merge, read and judged: what a process of its own can do."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kbs_engine.experience.records import CANONICAL, Entry, Mask, Replication, Unmask, write_line
from kbs_ingest.experience.lines import (
    BadLine,
    Found,
    is_array,
    parse_array,
    parse_lines,
    read_bytes,
)
from kbs_ingest.experience.lore import Lore, Task, task_of
from kbs_ingest.experience.view import plain_outcome

KEY_BYTES = 32
_NO_LOG = (
    "nothing in this file is a record: a segment has one a line, an older log is a JSON array, "
    "alone or under entries, experiences, records or log"
)
"""Of a file that is none of ours; a last line that a crash cut short is told of no other file."""


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
        self.libraries: dict[Task, float] = {}
        self.undecided: list[tuple[Task, float, int, str]] = []
        """Records without a library baseline: task, time, line and what tells the entry."""

    def key(self, index: int) -> bytes:
        """The id of a record, as bytes."""
        return bytes(self.keys[KEY_BYTES * index : KEY_BYTES * (index + 1)])

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
        entry = found.entry
        whose = entry.origin or origin
        line = data[found.start : found.start + found.length]
        if not entry.origin or not CANONICAL.match(line):
            again = Entry(id=entry.id, origin=whose, record=entry.record)
            parsed.rewritten[len(parsed.origins)] = write_line(again)[:-1]
        parsed.keys += bytes.fromhex(entry.id)
        parsed.starts.append(found.start)
        parsed.lengths.append(found.length)
        parsed.origins.append(names.setdefault(whose, whose))
        _judge(parsed, found, lore, f"entry {number}: " if one_line else "")
    if not parsed.origins and not parsed.rejected and not data.isspace() and data:
        parsed.rejected.append(BadLine(file=source.label, line=1, reason=_NO_LOG))
    return parsed


def _entries(data: bytes, label: str, origin: str) -> Iterator[Found | BadLine]:
    if is_array(data):
        return parse_array(data, label, origin)
    return parse_lines(data, label)


def _judge(parsed: Parsed, found: Found, lore: Lore, place: str) -> None:
    """Doubt one record by itself; keep what a library baseline may yet tell.

    ``place`` begins a reason where the line does not tell which entry it is.
    """
    record = found.entry.record
    if isinstance(record, (Mask, Unmask, Replication)):
        return
    outcome = lore.resolve(plain_outcome(found.entry))
    why = lore.doubt(outcome, {})
    if why:
        label = parsed.source.label
        parsed.doubted.append(BadLine(file=label, line=found.number, reason=place + why))
        return
    if not outcome.dims or (outcome.baseline_ns is None and outcome.after_ns is None):
        return
    task = task_of(outcome)
    if outcome.baseline_ns is not None:
        known = parsed.libraries.get(task, outcome.baseline_ns)
        parsed.libraries[task] = min(known, outcome.baseline_ns)
    elif outcome.after_ns is not None:
        parsed.undecided.append((task, outcome.after_ns, found.number, place))
