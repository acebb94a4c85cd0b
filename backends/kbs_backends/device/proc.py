"""What /proc tells of other processes: children, threads, memory, size of a folder."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def children(pid: int) -> frozenset[int]:
    """Direct children of a process; empty when it is gone."""
    out: set[int] = set()
    for task in _listing(Path(f"/proc/{pid}/task")):
        with contextlib.suppress(OSError):
            out.update(int(word) for word in (task / "children").read_text("ascii").split())
    return frozenset(out)


def descendants(pid: int) -> frozenset[int]:
    """Children, their children, and so on."""
    out: set[int] = set()
    waiting = [pid]
    while waiting:
        fresh = children(waiting.pop()) - out
        out |= fresh
        waiting.extend(fresh)
    return frozenset(out)


def thread_count(pid: int) -> int:
    """Threads of a process; 0 when it is gone."""
    return len(_listing(Path(f"/proc/{pid}/task")))


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def folder_bytes(folder: Path) -> int:
    """Bytes that the files below a folder take; what vanishes meanwhile counts nothing."""
    total = 0
    for base, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_blocks * 512  # noqa: PTH118 - hot
    return total


def _listing(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
