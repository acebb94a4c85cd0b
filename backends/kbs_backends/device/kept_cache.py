"""What one process of an arm compiled, for the next processes of the same arm in the same race.

The first one starts with an empty cache, so that its cold call costs what it costs. What it left
in its Triton cache may be anything, the candidate wrote it: only plain files one folder deep
are taken, no links are followed, and size and number are limited.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

MOST_FILES = 256
MOST_BYTES = 64 << 20
_GROUP = "__grp__"
"""Triton's lists of the files of one kernel, with their whole paths."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK

Kept = dict[tuple[str, str], bytes]
"""(folder, file) of the cache → content."""


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
    for folder in sorted(os.listdir(root)):
        if not _is(folder, root, stat.S_ISDIR):
            continue
        inside = os.open(folder, _FOLDER, dir_fd=root)
        try:
            for name in sorted(os.listdir(inside)):  # noqa: PTH208 - a descriptor
                if not _is(name, inside, stat.S_ISREG):
                    continue
                content = _content(name, inside, MOST_BYTES - size)
                size += len(content)
                kept[folder, name] = content
                if len(kept) > MOST_FILES or size >= MOST_BYTES:
                    return {}
        finally:
            os.close(inside)
    return kept


def _is(name: str, folder: int, kind: Callable[[int], bool]) -> bool:
    return kind(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


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
