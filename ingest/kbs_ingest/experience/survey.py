"""What a whole log must be asked before any record of it is judged: marks and baselines.

Records are decoded only where that may matter: who asks about a few tasks need not wait for a
million records of others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from kbs_engine.experience.libraries import Libraries
from kbs_engine.experience.records import CANONICAL
from kbs_ingest.experience.lines import raw_lines, read_bytes
from kbs_ingest.experience.lore import Lore, Task, task_of
from kbs_ingest.experience.places import list_segments
from kbs_ingest.experience.view import Mark, Scan, Seen, hidden_by, tell

_OUTCOME: Final = b'{"kind":"outcome"'
_LEGACY: Final = b'{"kind":"legacy"'
_DIMS: Final = re.compile(rb'"dims"\s*:\s*(\{[^{}]*\})')
_BASELINE: Final = b'"baseline_ns"'

Line = tuple[str, int, int, bytes]
"""Segment, number, start and bytes."""


def marks_of(folder: Path, lore: Lore) -> dict[str, Mark]:
    """Masks, unmasks and replications of all segments, by id."""
    scan = Scan(folder, lore)
    for line in _lines(folder):
        if not _is_outcome(line[3]):
            _take(scan, line)
    return scan.marks


def judging(
    folder: Path, lore: Lore, marks: Mapping[str, Mark], only: Collection[str] | None = None
) -> dict[Task, float]:
    """The baselines that judge the outcomes of a log, as its ``marks`` leave it.

    ``only`` tasks with such dims, where they are given.
    """
    libraries: Libraries[Task] = Libraries()
    hidden = hidden_by(marks)
    dims = set()

    def stating(line: bytes) -> bool:
        return _BASELINE in line and (only is None or within(line, only))

    for seen in believed(folder, lore, stating):
        if seen.id not in hidden:
            tell(libraries, seen.outcome)
            dims.add(task_of(seen.outcome)[3])
    if not libraries:
        return {}
    for seen in believed(folder, lore, lambda line: _BASELINE not in line and within(line, dims)):
        if seen.id not in hidden:
            tell(libraries, seen.outcome)
    return libraries.judging()


def believed(folder: Path, lore: Lore, wanted: Callable[[bytes], bool]) -> Iterator[Seen]:
    """Outcomes of a log that are believed by themselves, of the lines that are ``wanted``."""
    scan = Scan(folder, lore)
    for line in _lines(folder):
        seen = _take(scan, line) if wanted(line[3]) else None
        if seen is not None and not seen.doubt:
            yield seen


def within(line: bytes, dims: Collection[str]) -> bool:
    """Whether the outcome of a line may be told of a task with such dims (as tasks have them)."""
    match = CANONICAL.match(line)
    if match is None or not line.startswith(_OUTCOME, match.end()):
        return True
    told = _DIMS.search(line, match.end())
    if told is None:
        return b'"dims"' in line
    written = _written(told[1])
    return written is None or written in dims


@lru_cache(maxsize=65536)
def _written(dims: bytes) -> str | None:
    try:
        value = msgspec.json.decode(dims)
    except msgspec.DecodeError:
        return None
    return msgspec.json.encode(value, order="deterministic").decode()


def _is_outcome(line: bytes) -> bool:
    """Whether a line that this program wrote is no mark, without decoding it."""
    match = CANONICAL.match(line)
    return match is not None and line.startswith((_OUTCOME, _LEGACY), match.end())


def _lines(folder: Path) -> Iterator[Line]:
    for name, path in list_segments(folder).items():
        for number, start, line in raw_lines(read_bytes(path)):
            yield name, number, start, line


def _take(scan: Scan, line: Line) -> Seen | None:
    name, number, start, raw = line
    try:
        return scan.take(number, start, raw, name)
    except (ValueError, RecursionError):
        return None  # told by the reading of the log itself
