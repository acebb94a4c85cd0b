"""Tools that are started ahead of their jobs: at most one waits for each way to start one.

Starting a tool, an interpreter and its imports takes seconds and needs no GPU, so it is done
while other work goes on. A tool that died while it waited, or about which anything is off, is
dropped, and the caller starts the tool as usual: the answer is the same, later.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kbs_backends.device.ahead_child import PROGRAM, AheadChild
from kbs_backends.device.environ import child_environment
from kbs_backends.profilers.base import Finished, Target, ToolStart, Turn

MIN_CORES = 4
MOST = 6
"""Tools that wait at once for one device: a profiler's passes and the sanitizer's tools."""
MIN_FREE_BYTES = 8 << 30
"""Memory that must be available before one more is started; a torch takes about 0.5 GiB."""
FAULTS = 2
"""After so many that died while waiting, no more are started of a kind."""
READY_S = 15.0
"""Longest wait for one that is still importing: it has a start on a new one."""
AT_ONCE = 4
Key = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def free_bytes() -> int:
    """Memory that can be had without swapping (proc(5), MemAvailable); 0 where nothing tells."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), "0")
    return int(found) << 10


class StartedAhead:
    """The waiting tools of one device."""

    def __init__(
        self,
        workdir: Path,
        *,
        cores: Callable[[], int] = cores,
        free_bytes: Callable[[], int] = free_bytes,
    ) -> None:
        """Nothing is started yet; ``workdir`` holds their private folders."""
        self._workdir = workdir
        self._free_bytes = free_bytes
        count = cores()
        self._enough = count >= MIN_CORES
        workers = max(1, min(AT_ONCE, count // MIN_CORES))
        self._starters = ThreadPoolExecutor(workers, thread_name_prefix="kbs-ahead")
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._waiting: OrderedDict[Key, AheadChild | None] = OrderedDict()
        """None: its start is queued."""
        self._faults: Counter[Key] = Counter()

    def expect(self, start: ToolStart) -> None:
        """A job may come that needs this tool: have one wait, if the machine has room."""
        key = _key(start)
        with self._lock:
            if key in self._waiting:
                self._waiting.move_to_end(key)
                return
            if self._closed.is_set() or not self._enough or self._faults[key] >= FAULTS:
                return
            if self._free_bytes() < MIN_FREE_BYTES or shutil.which(start.command[0]) is None:
                return
            self._waiting[key] = None
            self._starters.submit(self._start, key, start)

    def run(
        self, start: ToolStart, target: Target, into: Path, turn: Turn | None = None
    ) -> Finished | None:
        """See ``profilers.Ahead``; the next one is started once this one is done."""
        child = self._taken(start, target)
        try:
            return None if child is None else self._made(child, target, into, turn)
        finally:
            self.expect(start)

    def pids(self) -> tuple[int, ...]:
        """Process ids of the tools that wait."""
        with self._lock:
            return tuple(child.pid for child in self._waiting.values() if child is not None)

    def close(self) -> None:
        """End all that wait; nothing is started any more."""
        self._closed.set()
        self._starters.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left = [child for child in self._waiting.values() if child is not None]
            self._waiting.clear()
        for child in left:
            child.leave()
        for child in left:
            child.end()

    def _start(self, key: Key, start: ToolStart) -> None:
        """Start one, in a thread of its own; the oldest that wait make room."""
        self._workdir.mkdir(parents=True, exist_ok=True)
        try:
            child = AheadChild(start, {**child_environment(), **start.env}, self._workdir)
        except OSError:
            with self._lock:
                self._waiting.pop(key, None)
                self._faults[key] = FAULTS
            return
        with self._lock:
            wanted = key in self._waiting and not self._closed.is_set()
            if wanted:
                self._waiting[key] = child
            others = [k for k, one in self._waiting.items() if one is not None and k != key]
            old = [self._waiting.pop(k) for k in others[: max(0, len(others) + 1 - MOST)]]
        for one in old:
            if one is not None:
                one.end()
        if not child.settle(self._closed):
            self._dropped(key, child)

    def _dropped(self, key: Key, child: AheadChild) -> None:
        """One that never was ready, or that nobody wants any more."""
        with self._lock:
            if self._waiting.get(key) is child:
                del self._waiting[key]
                self._faults[key] += 1
        child.end()

    def _taken(self, start: ToolStart, target: Target) -> AheadChild | None:
        """One that waits and would be started just so now."""
        with self._lock:
            child = self._waiting.get(_key(start))
            if child is None:
                return None  # where its start is queued it is left to the next job
            del self._waiting[_key(start)]
        child.ready.wait(READY_S)
        waits = child.channel is not None and child.alive
        as_now = {**(target.env or os.environ), **start.env} == child.env
        if waits and as_now and target.argv[: len(PROGRAM)] == PROGRAM:
            return child
        self._faults[_key(start)] += not waits
        child.end()
        return None

    def _made(
        self, child: AheadChild, target: Target, into: Path, turn: Turn | None
    ) -> Finished | None:
        try:
            finished = child.run(target, turn)
            if finished is not None:
                child.take_files(into)
        finally:
            child.end()
        return finished


def _key(start: ToolStart) -> Key:
    return start.command, tuple(sorted(start.env.items()))
