"""Merging other logs into this home: set union, and no bad line stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kbs_engine.errors import InputError
from kbs_engine.experience.quarantine import beyond_library
from kbs_engine.experience.records import Entry, Mask, Replication, Unmask, write_line
from kbs_ingest.experience.lines import (
    CANONICAL,
    BadLine,
    Found,
    is_array,
    parse_array,
    parse_lines,
    raw_lines,
    read_bytes,
    read_record,
)
from kbs_ingest.experience.lore import Lore, Task, task_of
from kbs_ingest.experience.places import (
    UNNAMED,
    experience_folder,
    is_name,
    list_segments,
    origin_of,
)
from kbs_ingest.experience.view import plain_outcome
from kbs_ingest.experience.writer import SegmentWriter

if TYPE_CHECKING:
    from typing_extensions import Self

Progress = Callable[[str, int, int], None]
BATCH_BYTES = 4 << 20


class MergeReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge did."""

    added: int
    duplicates: int
    quarantined: tuple[BadLine, ...]
    """Records of the sources that are not believed and never count: file, line, reason."""
    rejected: tuple[BadLine, ...]
    """Lines that are no records and were left out."""


def merge(
    home: Path,
    sources: Sequence[Path],
    *,
    lore: Lore,
    origin: str | None = None,
    progress: Progress | None = None,
) -> MergeReport:
    """Add every record of ``sources`` that this home lacks.

    Args:
        home: the home folder.
        sources: segments, older logs (JSON arrays), or folders of them; other homes too.
        lore: names and bounds from the wiki, for the quarantine report.
        origin: whose the records are that say no origin; this home by default.
        progress: told the files done.

    Raises:
        InputError: A source is not there or cannot be read; what was read before it stays.
        StoreError: The home cannot be written.
    """
    name = origin_of(home, origin)
    files = [found for source in sources for found in _files(source)]
    with _Sink(home, name) as sink:
        judge = _Judge(lore)
        for number, (label, path) in enumerate(files):
            if progress:
                progress("merging", number, len(files))
            data = read_bytes(path)
            for found in _parse(data, label, name):
                if isinstance(found, BadLine):
                    judge.rejected.append(found)
                else:
                    sink.add(found, data)
                    judge.judge(found, label)
        if progress:
            progress("merging", len(files), len(files))
    return MergeReport(
        added=sink.added,
        duplicates=sink.duplicates,
        quarantined=judge.quarantined(),
        rejected=tuple(judge.rejected),
    )


def _files(source: Path) -> list[tuple[str, Path]]:
    """Files of a source, each with the name that messages use."""
    if source.is_dir():
        inner = experience_folder(source)
        folder = inner if inner.is_dir() else source
        found = list(list_segments(folder).values())
        found += sorted(folder.glob("*.json"))
        if not found:
            raise InputError(
                "the folder holds no experience",
                where=str(source),
                remedy="name a home, a folder of segments (.jsonl) or of older logs (.json)",
            )
        return [(str(path), path) for path in found]
    if not source.exists():
        raise InputError(
            "no such file or folder",
            where=str(source),
            remedy="name a segment (.jsonl), a folder of segments, or an older log (.json)",
        )
    return [(str(source), source)]


def _parse(data: bytes, label: str, origin: str) -> Iterator[Found | BadLine]:
    if is_array(data):
        return parse_array(data, label, origin)
    return parse_lines(data, label)


class _Sink:
    """Takes entries that the home lacks and appends them to a segment of their origin."""

    def __init__(self, home: Path, origin: str) -> None:
        self.home = home
        self.origin = origin
        self.added = self.duplicates = 0
        self._held = _held(home)
        self._writers: dict[str, SegmentWriter] = {}
        self._waiting: dict[str, list[bytes]] = {}
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """What was read before a failure is kept: a merge can be run again."""
        self._flush()
        for writer in self._writers.values():
            writer.close()

    def add(self, found: Found, data: bytes) -> None:
        """Take the record if it is new here. A known one may bring a smaller origin."""
        entry = found.entry
        origin = entry.origin or self.origin
        key = bytes.fromhex(entry.id)
        held = self._held.get(key)
        if held is not None:
            self.duplicates += 1
            if held <= origin:
                return
        else:
            self.added += 1
        self._held[key] = origin
        line = data[found.start : found.start + found.length]
        if not CANONICAL.match(line) or not entry.origin:
            line = write_line(Entry(id=entry.id, origin=origin, record=entry.record))[:-1]
        self._waiting.setdefault(origin, []).append(line + b"\n")
        self._bytes += len(line)
        if self._bytes > BATCH_BYTES:
            self._flush()

    def _flush(self) -> None:
        for origin, lines in self._waiting.items():
            folder = origin if is_name(origin) else UNNAMED
            writer = self._writers.get(folder)
            if writer is None:
                writer = self._writers[folder] = SegmentWriter(self.home, folder)
            writer.append(lines)
        self._waiting.clear()
        self._bytes = 0


def _held(home: Path) -> dict[bytes, str]:
    """Ids that the home holds, with the smallest origin of each."""
    found: dict[bytes, str] = {}
    names: dict[bytes, str] = {}
    for path in list_segments(experience_folder(home)).values():
        for _, _, line in raw_lines(read_bytes(path)):
            match = CANONICAL.match(line)
            if match is not None and line.endswith(b"}"):
                key = bytes.fromhex(match[1].decode())
                origin = names.setdefault(match[2], match[2].decode(errors="replace"))
            else:
                try:
                    entry = read_record(line)
                except (ValueError, RecursionError):
                    continue
                key, origin = bytes.fromhex(entry.id), entry.origin
            known = found.get(key)
            if known is None or origin < known:
                found[key] = origin
    return found


class _Judge:
    """Remembers what a merge rejects, and which records are not believed."""

    def __init__(self, lore: Lore) -> None:
        self.rejected: list[BadLine] = []
        self._lore = lore
        self._doubted: list[BadLine] = []
        self._libraries: dict[Task, float] = {}
        self._open: list[tuple[Task, float, str, int]] = []

    def judge(self, found: Found, label: str) -> None:
        """Doubt one record by itself; keep what a library baseline may yet tell."""
        record = found.entry.record
        if isinstance(record, (Mask, Unmask, Replication)):
            return
        outcome = self._lore.resolve(plain_outcome(found.entry))
        why = self._lore.doubt(outcome, {})
        if why:
            self._doubted.append(BadLine(file=label, line=found.number, reason=why))
            return
        if not outcome.dims:
            return
        task = task_of(outcome)
        if outcome.baseline_ns is not None:
            known = self._libraries.get(task, outcome.baseline_ns)
            self._libraries[task] = min(known, outcome.baseline_ns)
        elif outcome.after_ns is not None:
            self._open.append((task, outcome.after_ns, label, found.number))

    def quarantined(self) -> tuple[BadLine, ...]:
        """All of them, those against the best baseline of the same merge included."""
        for task, after_ns, label, number in self._open:
            why = beyond_library(after_ns, self._libraries.get(task))
            if why:
                self._doubted.append(BadLine(file=label, line=number, reason=why))
        self._open.clear()
        return tuple(sorted(self._doubted, key=lambda bad: (bad.file, bad.line)))
