"""What /proc tells of other processes: children, threads, memory, size of a folder."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def children(pid: int) -> frozenset[int]:
    """Direct children of a process; empty when it is gone."""
    if not Path("/proc/self/task").joinpath(str(os.getpid()), "children").exists():
        return _children_by_search(pid)  # kernels without CONFIG_PROC_CHILDREN, gVisor
    out: set[int] = set()
    for task in _listing(Path(f"/proc/{pid}/task")):
        with contextlib.suppress(OSError):
            out.update(int(word) for word in (task / "children").read_text("ascii").split())
    return frozenset(out)


def ended(pid: int) -> bool:
    """Whether a process is gone or waits to be reaped."""
    status = _status(pid)
    return status is None or status[0] in "ZX"


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


def threads(pid: int) -> dict[int, str]:
    """Id and name of every thread of a process; empty when it is gone."""
    found = {}
    for task in _listing(Path(f"/proc/{pid}/task")):
        with contextlib.suppress(OSError, ValueError):
            found[int(task.name)] = (task / "comm").read_text(errors="replace").strip()
    return found


def ran_ns(pid: int, thread: int) -> float:
    """Nanoseconds that one thread has run (sched-stats.rst); 0 where nothing tells."""
    try:
        return float(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text("ascii").split()[0])
    except (OSError, IndexError, ValueError):
        return 0.0


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def waited_ns(pid: int) -> float:
    """Nanoseconds that a process's main thread waited for a processor; 0 where nothing tells."""
    try:
        return float(Path(f"/proc/{pid}/schedstat").read_text("ascii").split()[1])
    except (OSError, IndexError):
        return 0.0


def busy_seconds(pids: frozenset[int]) -> float:
    """Processor time of processes and of children that they waited for.

    With main threads' waits for a processor: it stands still only while nothing is done, also
    on a loaded machine.
    """
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            text = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace")
            words = text.rpartition(")")[2].split()
            ticks += sum(int(word) for word in words[11:15])  # utime, stime, cutime, cstime
    return ticks / os.sysconf("SC_CLK_TCK") + sum(waited_ns(pid) for pid in pids) / 1e9


def reads_disk(pids: frozenset[int]) -> bool:
    """Whether one of the processes waits for a disk (state D)."""
    return any((_status(pid) or ("", 0))[0] == "D" for pid in pids)


def folder_bytes(folder: Path) -> int:
    """Bytes that the files below a folder take; what vanishes meanwhile counts nothing."""
    total = 0
    for base, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(base, name)).st_blocks * 512  # noqa: PTH118 - hot
    return total


def _children_by_search(parent: int) -> frozenset[int]:
    out: set[int] = set()
    for entry in _listing(Path("/proc")):
        if entry.name.isdigit():
            status = _status(int(entry.name))
            if status is not None and status[1] == parent:
                out.add(int(entry.name))
    return frozenset(out)


def _status(pid: int) -> tuple[str, int] | None:
    """State letter and parent (proc(5): behind the name, which may hold anything)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()
    return (words[0], int(words[1])) if len(words) > 1 else None


def _listing(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
