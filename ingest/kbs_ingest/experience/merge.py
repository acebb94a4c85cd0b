"""Merging other logs into this home: set union, and no bad line stops it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kbs_engine.errors import InputError
from kbs_engine.experience.records import CANONICAL, has_its_id
from kbs_ingest.experience.lines import (
    BadLine,
    raw_lines,
    read_bytes,
    read_record,
)
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.maskings import Masking, maskings
from kbs_ingest.experience.parsing import Parsed, Source, parse_source
from kbs_ingest.experience.places import (
    UNNAMED,
    experience_folder,
    is_name,
    list_segments,
    origin_of,
)
from kbs_ingest.experience.survey import marks_of
from kbs_ingest.experience.telling import taken_out
from kbs_ingest.experience.writer import SegmentWriter

if TYPE_CHECKING:
    from typing_extensions import Self

Progress = Callable[[str, int, int], None]
BATCH_BYTES: Final = 8 << 20
PARALLEL_BYTES: Final = 64 << 20
"""From this size on, files are read by a process for each core; below, starting them costs more."""


class MergeReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a merge did."""

    added: int
    duplicates: int
    quarantined: tuple[BadLine, ...]
    """Records of the sources that are not believed and never count: file, line, reason; those
    too that counted here until this merge."""
    rejected: tuple[BadLine, ...]
    """Lines that are no records and were left out."""
    unread: tuple[BadLine, ...] = ()
    """Records of a later kbs: whole in the log, but with fields that this one does not read."""
    masks: tuple[Masking, ...] = ()
    """Masks and unmasks that came in, each with the records that it takes out or shows again."""

    @property
    def understood_nothing(self) -> bool:
        """Whether the sources hold lines, and none of them is a record."""
        return bool(self.rejected) and not (self.added or self.duplicates)


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
    every: list[Parsed] = []
    with _Sink(home) as sink:
        for number, parsed in enumerate(_parse_all(files, name, lore)):
            if progress:
                progress("merging", number, len(files))
            sink.add(parsed)
            every.append(parsed)
    told = [bad for parsed in every for bad in parsed.doubted]
    marks = marks_of(experience_folder(home), lore)
    told += taken_out(home, lore, every, sink.fresh, marks)
    older = {id_: mark for id_, mark in marks.items() if bytes.fromhex(id_) not in sink.fresh}
    if progress:
        progress("merging", len(files), len(files))
    return MergeReport(
        added=sink.added,
        duplicates=sink.duplicates,
        quarantined=tuple(sorted(told, key=lambda bad: (bad.file, bad.line))),
        rejected=tuple(bad for parsed in every for bad in parsed.rejected),
        unread=tuple(bad for parsed in every for bad in parsed.unread),
        masks=maskings(older, marks, sink.holds),
    )


def _files(source: Path) -> list[Source]:
    """Files of a source, each with the name that messages use."""
    found = [source]
    if source.is_dir():
        inner = experience_folder(source)
        folder = inner if inner.is_dir() else source
        found = [*list_segments(folder).values(), *sorted(folder.glob("*.json"))]
        if not found:
            raise InputError(
                "the folder holds no experience",
                where=str(source),
                remedy="name a home, a folder of segments (.jsonl) or of older logs (.json)",
            )
    elif not source.exists():
        raise InputError(
            "no such file or folder",
            where=str(source),
            remedy="name a segment (.jsonl), a folder of segments, or an older log (.json)",
        )
    return [Source(str(path), path, path.stat().st_size) for path in found]


def _parse_all(files: Sequence[Source], origin: str, lore: Lore) -> Iterator[Parsed]:
    """Files in their order, read by several processes where there is much to read."""
    cores = min(len(files), len(os.sched_getaffinity(0)))
    if cores == 1 or sum(source.size for source in files) < PARALLEL_BYTES:
        for source in files:
            yield parse_source(source, origin, lore)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        cores, mp_context=context, initializer=_prepare, initargs=(origin, lore)
    ) as pool:
        yield from pool.map(_parse_here, files)


_PREPARED: dict[str, tuple[str, Lore]] = {}


def _prepare(origin: str, lore: Lore) -> None:
    """Keep in a process of the pool what every file needs."""
    _PREPARED["all"] = (origin, lore)


def _parse_here(source: Source) -> Parsed:
    origin, lore = _PREPARED["all"]
    return parse_source(source, origin, lore)


class _Sink:
    """Takes records that the home lacks and appends them to a segment of their origin."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.added = self.duplicates = 0
        self.fresh: set[bytes] = set()
        """Ids that the home lacked."""
        self._held = held_by(home)
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

    def add(self, parsed: Parsed) -> None:
        """Take what is new. A record that is known may bring a smaller origin."""
        data = b""
        for index, origin in enumerate(parsed.origins):
            key = parsed.key(index)
            held = self._held.get(key)
            if held is not None:
                self.duplicates += 1
                if held <= origin:
                    continue
            else:
                self.added += 1
                self.fresh.add(key)
            self._held[key] = origin
            data = data or read_bytes(parsed.source.path)
            line = parsed.line(index, data)
            self._waiting.setdefault(origin, []).append(line + b"\n")
            self._bytes += len(line)
            if self._bytes > BATCH_BYTES:
                self._flush()

    def holds(self, id_: str) -> bool:
        """Whether the log holds this record, what was here and what came in."""
        return bytes.fromhex(id_) in self._held

    def _flush(self) -> None:
        for origin, lines in self._waiting.items():
            folder = origin if is_name(origin) else UNNAMED
            writer = self._writers.get(folder)
            if writer is None:
                writer = self._writers[folder] = SegmentWriter(self.home, folder)
            writer.append(lines)
        self._waiting.clear()
        self._bytes = 0


def held_by(home: Path) -> dict[bytes, str]:
    """Ids that the home holds, with the smallest origin of each."""
    found: dict[bytes, str] = {}
    names: dict[bytes, str] = {}
    for path in list_segments(experience_folder(home)).values():
        for _, _, line in raw_lines(read_bytes(path)):
            match = CANONICAL.match(line)
            if match is not None and has_its_id(line, match):
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
