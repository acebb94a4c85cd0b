"""Exchanging segments with a folder or an object store, both ways.

A segment only grows, so of two versions of one name the longer one holds the shorter one.
Where it does not (somebody edited a file), both are kept under names of their own. Files are
written whole: through a temporary name and a rename in a folder, as one object in a store.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from kbs_engine.durable import write_whole
from kbs_engine.errors import InputError, StoreError
from kbs_ingest.experience.lines import BadLine
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.maskings import Masking, maskings
from kbs_ingest.experience.merge import held_by
from kbs_ingest.experience.places import (
    SUFFIX,
    experience_folder,
    host_tag,
    is_name,
    list_segments,
)
from kbs_ingest.experience.survey import marks_of
from kbs_ingest.experience.view import Mark

MAX_SEGMENT_BYTES: Final = 1 << 30


class SyncReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an exchange did, by segment."""

    target: str
    sent: tuple[str, ...]
    received: tuple[str, ...]
    unchanged: int
    conflicts: tuple[str, ...] = ()
    """Segments that differ in more than their end; both versions are kept."""
    rejected: tuple[BadLine, ...] = ()
    masks: tuple[Masking, ...] = ()
    """Masks and unmasks that came in, each with the records that it takes out or shows again."""


class Remote(Protocol):
    """The other side: whole files by relative name."""

    def sizes(self) -> dict[str, int]:
        """Every file with its bytes."""
        ...

    def get(self, name: str) -> bytes:
        """The content of a file."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a file whole."""
        ...


def sync(home: Path, target: str) -> SyncReport:
    """Send what ``target`` lacks and take what this home lacks.

    Args:
        home: the home folder.
        target: a folder, another home, or the URL of one in an object store
            (``s3://bucket/path``, ``gs://``, ``abfs://``; ``?endpoint_override=HOST&scheme=http``
            names another S3 server).

    Raises:
        InputError: The target is not there or cannot be read.
        StoreError: One side cannot be written; what was exchanged before stays.
    """
    remote = open_remote(target)
    folder = experience_folder(home)
    theirs = remote.sizes()
    ours = {name: path.stat().st_size for name, path in list_segments(folder).items()}
    before = marks_of(folder, Lore())
    done = _Exchange(folder, remote)
    for name in sorted(ours.keys() | theirs.keys()):
        if not _is_segment(name):
            done.reject(name, "its name is no ORIGIN/SEGMENT.jsonl")
        elif theirs.get(name, 0) > MAX_SEGMENT_BYTES:
            done.reject(name, f"{theirs[name]} bytes are no segment")
        elif ours.get(name) == theirs.get(name):
            done.unchanged += 1
        else:
            done.exchange(name, mine=name in ours, other=name in theirs)
    return SyncReport(
        target=target,
        sent=tuple(done.sent),
        received=tuple(done.received),
        unchanged=done.unchanged,
        conflicts=tuple(done.conflicts),
        rejected=tuple(done.rejected),
        masks=_brought(home, before) if done.received else (),
    )


def _brought(home: Path, before: Mapping[str, Mark]) -> tuple[Masking, ...]:
    """What the masks that came in do; the ids of the log are read only where there are some."""
    after = marks_of(experience_folder(home), Lore())
    if not after.keys() - before.keys():
        return ()
    held = held_by(home)
    return maskings(before, after, lambda id_: bytes.fromhex(id_) in held)


def _is_segment(name: str) -> bool:
    """A name that may be written below the experience folder."""
    parts = name.split("/")
    return (
        len(parts) <= 2  # noqa: PLR2004 - ORIGIN/SEGMENT, or a segment of its own
        and name.endswith(SUFFIX)
        and all(is_name(part) for part in parts)
    )


class _Exchange:
    """Decides for each segment which way it goes."""

    def __init__(self, folder: Path, remote: Remote) -> None:
        self.folder = folder
        self.remote = remote
        self.sent: list[str] = []
        self.received: list[str] = []
        self.conflicts: list[str] = []
        self.rejected: list[BadLine] = []
        self.unchanged = 0

    def reject(self, name: str, reason: str) -> None:
        self.rejected.append(BadLine(file=name, line=0, reason=reason))

    def exchange(self, name: str, *, mine: bool, other: bool) -> None:
        """One segment whose two versions differ in size, or that one side lacks."""
        here = _whole_lines((self.folder / name).read_bytes()) if mine else b""
        there = _whole_lines(self.remote.get(name)) if other else b""
        if here == there:
            self.unchanged += 1
        elif here.startswith(there):
            self.remote.put(name, here)
            self.sent.append(name)
        elif there.startswith(here) and mine and _is_own(name):
            self._keep_both(name, here, there)  # a process of this host may hold the file
        elif there.startswith(here):
            write_whole(self.folder / name, there)
            self.received.append(name)
        elif self._keep_both(name, here, there):
            self.conflicts.append(name)

    def _keep_both(self, name: str, here: bytes, there: bytes) -> bool:
        """Each side gets the other's version under a name that tells its content.

        False where both sides had both already: an earlier exchange told it.
        """
        before = len(self.sent) + len(self.received)
        theirs, ours = _beside(name, there), _beside(name, here)
        if not (self.folder / theirs).exists():
            write_whole(self.folder / theirs, there)
            self.received.append(theirs)
        if ours not in self.remote.sizes():
            self.remote.put(ours, here)
            self.sent.append(ours)
        return len(self.sent) + len(self.received) > before


def _is_own(name: str) -> bool:
    """Whether a process of this host writes the segment."""
    return name.rpartition("/")[2].startswith(host_tag())


def _beside(name: str, data: bytes) -> str:
    return f"{name.removesuffix(SUFFIX)[:100]}.{hashlib.sha256(data).hexdigest()[:8]}{SUFFIX}"


def _whole_lines(data: bytes) -> bytes:
    """Without what an append has begun and not finished."""
    return data[: data.rfind(b"\n") + 1]


def open_remote(target: str) -> Remote:
    """The other side of an exchange; InputError where ``target`` names none."""
    scheme, mark, place = target.partition("://")
    named = place if mark else scheme
    in_store = bool(mark) and scheme != "file"
    if not named.strip() or (in_store and not named.strip("/")):
        raise InputError(
            f"{target!r} names no place to exchange with",
            remedy="name a folder, or an object-store URL such as s3://bucket/path",
        )
    return _Store(target) if in_store else _Folder(_segments_of(Path(named)))


def _segments_of(folder: Path) -> Path:
    """Where a folder keeps its segments: a home has its own place for them."""
    inner = experience_folder(folder)
    return inner if inner.is_dir() or (folder / "index").is_dir() else folder


class _Folder:
    """A folder: NFS, a git checkout, a USB stick."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if folder.exists() and not folder.is_dir():
            raise InputError(
                "is no folder", where=str(folder), remedy="name a folder or an object-store URL"
            )

    def sizes(self) -> dict[str, int]:
        return {name: path.stat().st_size for name, path in list_segments(self.folder).items()}

    def get(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError as problem:
            raise InputError(
                f"cannot be read: {problem.strerror or problem}",
                where=str(self.folder / name),
                remedy="make it readable and sync again",
            ) from problem

    def put(self, name: str, data: bytes) -> None:
        write_whole(self.folder / name, data)


class _Store:
    """An object store, through pyarrow: an object is there whole or not at all."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._fs_module: Any = importlib.import_module("pyarrow.fs")
        arrow: Any = importlib.import_module("pyarrow")
        self._failures: tuple[type[Exception], ...] = (OSError, arrow.ArrowException)
        try:
            self._fs, self._base = self._fs_module.FileSystem.from_uri(url)
        except self._failures as problem:
            raise InputError(
                f"is no object store that can be opened: {_first_line(problem)}",
                where=url,
                remedy="write it as s3://bucket/path; credentials come from the environment",
            ) from problem

    def sizes(self) -> dict[str, int]:
        selector = self._fs_module.FileSelector(self._base, recursive=True, allow_not_found=True)
        try:
            found = self._fs.get_file_info(selector)
        except self._failures as problem:
            raise self._unreadable(problem) from problem
        return dict(self._named(found))

    def _named(self, infos: Any) -> Iterator[tuple[str, int]]:
        for info in infos:
            if info.is_file and info.path.endswith(SUFFIX):
                yield info.path.removeprefix(self._base).lstrip("/"), info.size

    def get(self, name: str) -> bytes:
        try:
            with self._fs.open_input_stream(f"{self._base}/{name}") as stream:
                data: bytes = stream.read()
        except self._failures as problem:
            raise self._unreadable(problem) from problem
        return data

    def put(self, name: str, data: bytes) -> None:
        try:
            with self._fs.open_output_stream(f"{self._base}/{name}") as stream:
                stream.write(data)
        except self._failures as problem:
            raise StoreError(
                f"cannot be written: {_first_line(problem)}",
                where=f"{self._url}/{name}",
                remedy="check the credentials and the bucket, then sync again",
            ) from problem

    def _unreadable(self, problem: Exception) -> InputError:
        return InputError(
            f"cannot be read: {_first_line(problem)}",
            where=self._url,
            remedy="check the address, the credentials and the bucket, then sync again",
        )


def _first_line(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]
