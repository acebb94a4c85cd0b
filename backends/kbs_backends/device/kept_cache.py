"""What one process of an arm compiled, for the next processes of the same arm.

The first one starts with an empty cache, so that its cold call costs what it costs. What it left
in its Triton cache may be anything, the candidate wrote it: only plain files one folder deep
are taken, no links are followed, and size and number are limited. It is given to processes of the
very same source on the very same task alone.
"""

from __future__ import annotations

import json
import os
import stat
from collections import OrderedDict
from pathlib import Path

import msgspec

from kbs_engine.jobs import Arm, SourceRef, Task

MOST_FILES = 256
MOST_BYTES = 64 << 20
MOST_SOURCES = 32
"""Sources whose caches are kept."""
_GROUP = "__grp__"
"""Triton's lists of the files of one kernel, with their whole paths."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK

Kept = dict[tuple[str, str], bytes]
"""(folder, file) of the cache → content."""


class CompiledBefore:
    """What the checks of this owner's life have compiled, and how long their first calls took."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._kept: OrderedDict[bytes, tuple[Kept, float]] = OrderedDict()

    def remember(
        self, source: SourceRef, task: Task, worker_folder: Path, cold_ns: float | None
    ) -> None:
        """Keep what a checked source left; the oldest goes when there is too much."""
        kept = keep(worker_folder)
        if not kept or cold_ns is None:
            return
        self._kept[_key(source, task)] = kept, cold_ns
        while len(self._kept) > MOST_SOURCES:
            self._kept.popitem(last=False)

    def of(self, arm: Arm, task: Task) -> tuple[Kept, float | None]:
        """For an arm that was checked: its cache and its cold call; else nothing."""
        nothing: tuple[Kept, float | None] = {}, None
        return self._kept.get(_key(arm, task), nothing) if isinstance(arm, SourceRef) else nothing


def _key(source: SourceRef, task: Task) -> bytes:
    return msgspec.json.encode((source, task), order="deterministic")


def keep(worker_folder: Path) -> Kept:
    """Read the Triton cache of a worker; empty when it is no such cache."""
    try:
        root = os.open(worker_folder / "triton", _FOLDER)
    except OSError:
        return {}
    try:
        return _read(root)
    except OSError:
        return {}
    finally:
        os.close(root)


def give(kept: Kept, worker_folder: Path) -> None:
    """Write it into the folder of another worker, in which nothing was loaded yet."""
    for (folder, name), content in kept.items():
        place = worker_folder / "triton" / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(_here(content, place) if name.startswith(_GROUP) else content)


def _read(root: int) -> Kept:
    kept: Kept = {}
    size = 0
    for folder in _named(root, folders=True):
        inside = os.open(folder, _FOLDER, dir_fd=root)
        try:
            for name in _named(inside, folders=False):
                content = _content(name, inside, MOST_BYTES - size)
                size += len(content)
                kept[folder, name] = content
                if len(kept) > MOST_FILES or size >= MOST_BYTES:
                    return {}
        finally:
            os.close(inside)
    return kept


def _named(folder: int, *, folders: bool) -> list[str]:
    """Plain files, or folders; a link is neither."""
    with os.scandir(folder) as entries:
        return sorted(
            entry.name
            for entry in entries
            if (entry.is_dir if folders else entry.is_file)(follow_symlinks=False)
        )


def _content(name: str, folder: int, most: int) -> bytes:
    descriptor = os.open(name, _FILE, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return file.read(most)


def _here(content: bytes, place: Path) -> bytes:
    """A list of files with the paths that they have now."""
    try:
        told = json.loads(content)
        children = told["child_paths"]
        told["child_paths"] = {name: str(place / Path(name).name) for name in children}
    except (ValueError, KeyError, TypeError, RecursionError):
        return content
    return json.dumps(told).encode()
