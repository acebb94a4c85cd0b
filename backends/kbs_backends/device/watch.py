"""Waiting for a worker while everything that may go wrong with any worker is watched."""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kbs_backends.device import proc
from kbs_backends.device.messages import FromWorker, Limits
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.supervisor import Supervisor
from kbs_backends.device.wire import Channel, ClosedError, WireError

TICK_S = 0.1
"""How often memory, files and children are looked at while waiting."""
BUSY_S = 0.2
"""Processor time by which a process shows that it works on."""


class GoneError(Exception):
    """The worker ended; how is told by the zygote."""


class Watched:
    """What is watched of one worker."""

    def __init__(
        self, pid: int, pidfd: int, folder: Path, channel: Channel, limits: Limits
    ) -> None:
        """All workers of the owner watch in one group (``Watch``)."""
        self.pid = pid
        self.pidfd = pidfd
        self.folder = folder
        self.channel = channel
        self.limits = limits
        self.base_bytes = proc.resident_bytes(pid)
        self.supervisor: Supervisor | None = None

    def own(self) -> frozenset[int]:
        """The worker and what it started."""
        return proc.descendants(self.pid) | {self.pid}

    def look(self) -> None:
        """Refusal when the worker takes more than it may."""
        used = sum(proc.resident_bytes(pid) for pid in self.own())
        if used > self.base_bytes + self.limits.memory_bytes:
            raise Refusal("out_of_memory", f"{used / 2**30:.1f} GiB of host memory")
        if proc.folder_bytes(self.folder) > self.limits.folder_bytes:
            raise Refusal("wrote_too_much", f"over {self.limits.folder_bytes / 2**30:.1f} GiB")
        for suffix in (".out", ".err"):
            path = self.folder.with_suffix(suffix)
            with contextlib.suppress(OSError):
                if path.stat().st_size > self.limits.output_bytes:
                    raise Refusal("wrote_too_much", "to stdout or stderr")
        children = len(proc.descendants(self.pid))
        if children > self.limits.children:
            raise Refusal("forked", f"{children} processes at once")


class _Progress:
    """Whether a process and what it started use the processor, or wait for a disk."""

    def __init__(self, one: Watched) -> None:
        self._one = one
        self._since = time.monotonic()
        self._busy_s = proc.busy_seconds(one.own())

    def idle_s(self) -> float:
        """For how long nothing has been done."""
        own = self._one.own()
        busy_s = proc.busy_seconds(own)
        if abs(busy_s - self._busy_s) >= BUSY_S or proc.reads_disk(own):
            self._since, self._busy_s = time.monotonic(), busy_s
        return time.monotonic() - self._since


class Watch:
    """All live workers of one owner."""

    def __init__(self, step: Callable[[], object] = lambda: None) -> None:
        """Nobody yet; ``step`` is called while an answer is waited for."""
        self._all: list[Watched] = []
        self._step = step

    def add(self, one: Watched) -> None:
        """Watch from now on."""
        self._all.append(one)

    def remove(self, one: Watched) -> None:
        """Watch no longer."""
        if one in self._all:
            self._all.remove(one)

    def receive(self, one: Watched, timeout_s: float, *, idle_s: float | None = None) -> Any:
        """The next message of ``one``; ``idle_s``: it may not do nothing for so long.

        Raises:
            Refusal: It takes too much, is silent for too long, or sends what is no message.
            GoneError: It ended.
        """
        deadline = time.monotonic() + timeout_s
        looked = time.monotonic()
        progress = None if idle_s is None else _Progress(one)
        try:
            while not one.channel.pending:
                now = time.monotonic()
                if now >= deadline:
                    one.look()
                    raise Refusal("hung", f"no answer within {timeout_s:g} s")
                self._poll(one, min(TICK_S, deadline - now))
                self._step()
                if time.monotonic() - looked >= TICK_S:
                    one.look()
                    looked = time.monotonic()
                    if progress is not None and idle_s and progress.idle_s() > idle_s:
                        raise Refusal("hung", f"no answer, and nothing was done for {idle_s:g} s")
            return one.channel.take(FromWorker)
        except WireError as problem:
            raise Refusal("forged_result", str(problem)) from problem
        except ClosedError as problem:
            raise GoneError(str(problem)) from problem

    def _poll(self, one: Watched, wait_s: float) -> None:
        listeners = {w.supervisor.listener: w.supervisor for w in self._all if w.supervisor}
        poll = select.poll()
        poll.register(one.channel, select.POLLIN)
        if one.pidfd >= 0:
            poll.register(one.pidfd, select.POLLIN)
        for fd in listeners:
            poll.register(fd, select.POLLIN)
        ready = dict(poll.poll(wait_s * 1000))
        for fd, event in ready.items():
            if fd in listeners and event & select.POLLIN:
                listeners[fd].answer()
        if one.channel.fileno() in ready:
            one.channel.fill()
        elif one.pidfd in ready or (one.pidfd < 0 and proc.ended(one.pid)):
            raise ClosedError("the process ended")
        elif any(event & ~select.POLLIN for fd, event in ready.items() if fd in listeners):
            time.sleep(0.001)  # a dead idle worker's listener is told off when its turn comes
