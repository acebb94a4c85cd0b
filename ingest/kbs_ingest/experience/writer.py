"""Appending records: one segment per process, no waiting, every append synced.

A process takes a segment of its host that no living process holds, or makes one, and holds it
by an advisory lock until it ends; so nobody ever waits, and files stay few. What a crash left
half written at the end of such a segment is cut off when the next process takes it.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

import msgspec

from kbs_engine.durable import sync_folder
from kbs_engine.errors import StoreError
from kbs_engine.experience.records import Entry, Record, entry_of, write_line
from kbs_ingest.experience.places import SUFFIX, experience_folder, host_tag, is_name, origin_of

if os.name == "posix":
    import fcntl

FULL_BYTES: Final = 64 << 20
"""A segment of this size is left alone and a new one begun, so that exchanges stay small."""


class SegmentWriter:
    """Appends lines to a segment that is this process's alone."""

    def __init__(self, home: Path, origin: str) -> None:
        """Nothing is opened before the first append."""
        self.folder = experience_folder(home) / origin
        self._handle = -1
        self._pid = -1
        self.path: Path | None = None

    def append(self, lines: Iterable[bytes]) -> None:
        """Write whole lines and sync them; all or none.

        Raises:
            StoreError: The disk is full or the folder cannot be written.
        """
        data = b"".join(lines)
        if not data:
            return
        try:
            handle = self._open()
            before = os.fstat(handle).st_size
            try:
                _write_all(handle, data)
                os.fsync(handle)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(handle, before)
                raise
        except OSError as problem:
            raise StoreError(
                f"experience cannot be appended: {problem.strerror or problem}",
                where=str(self.path or self.folder),
                remedy="free space or fix the folder's permissions; nothing was recorded",
            ) from problem
        if before + len(data) >= FULL_BYTES:
            self.close()

    def close(self) -> None:
        """Let go of the segment, for another process to take."""
        if self._handle >= 0 and self._pid == os.getpid():
            os.close(self._handle)
        self._handle = -1

    def _open(self) -> int:
        if self._handle >= 0 and self._pid == os.getpid():
            return self._handle
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = self._take_free()
        if handle is None:
            name = f"{host_tag()}-{os.getpid()}-{uuid.uuid4().hex[:8]}{SUFFIX}"
            self.path = self.folder / name
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
            _hold(handle)
            sync_folder(self.folder)
        self._handle, self._pid = handle, os.getpid()
        return handle

    def _take_free(self) -> int | None:
        """A segment of this host that nobody holds, its torn end cut off."""
        for path in sorted(self.folder.glob(f"{host_tag()}-*{SUFFIX}")):
            if path.stat().st_size >= FULL_BYTES:
                continue
            handle = os.open(path, os.O_RDWR | os.O_APPEND)
            if _hold(handle):
                _heal(handle)
                self.path = path
                return handle
            os.close(handle)
        return None


def _hold(handle: int) -> bool:
    """Take the advisory lock without waiting; False when another process has it."""
    if os.name != "posix":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _heal(handle: int) -> None:
    """Cut off what a crash left after the last newline."""
    size = os.fstat(handle).st_size
    end, step = size, 1 << 16
    while end > 0:
        start = max(0, end - step)
        place = os.pread(handle, end - start, start).rfind(b"\n")
        if place >= 0:
            end = start + place + 1
            break
        end = start
    if end < size:
        os.ftruncate(handle, end)
        os.fsync(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


_WRITERS: dict[tuple[str, str], SegmentWriter] = {}


def append(home: Path, records: Sequence[Record], *, origin: str | None = None) -> tuple[str, ...]:
    """Append new records to the log of ``home``; their ids.

    A record without a measurement uuid, a date or a machine is given one.

    Raises:
        ValueError: A record holds numbers that are not finite.
        StoreError: The disk is full or the folder cannot be written; nothing was recorded.
    """
    name = origin_of(home, origin)
    today = datetime.now(timezone.utc).date().isoformat()
    dated = [
        record if record.date else msgspec.structs.replace(record, date=today) for record in records
    ]
    return append_entries(home, [entry_of(record, name) for record in dated], origin=name)


def append_entries(home: Path, entries: Sequence[Entry], *, origin: str) -> tuple[str, ...]:
    """Append entries as they are; their ids."""
    folder = origin if is_name(origin) else origin_of(home)
    key = (str(home.resolve()), folder)
    writer = _WRITERS.setdefault(key, SegmentWriter(home, folder))
    writer.append(write_line(entry) for entry in entries)
    return tuple(entry.id for entry in entries)
