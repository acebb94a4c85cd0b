"""Threads of a candidate that Python does not know, counted from outside of its process.

Libraries start threads too (CUDA's driver, OpenMP, compilers), when they are first used, and
keep them asleep between calls. So two things are refused: a thread that a later call started
and left, and a thread that runs while no call does.
"""

from __future__ import annotations

import time

from kbs_backends.device import proc
from kbs_backends.device.refusal import Refusal

_LIBRARIES = ("cuda", "pt_", "llvm-worker")
"""Names of threads that a driver, torch and compilers give."""
LEAVE_S = 0.2
"""A thread that was joined may be there for so long."""
SETTLE_S = 0.4
"""Pools of OpenMP spin for up to 0.2 s after their work (KMP_BLOCKTIME)."""
WINDOW_S = 0.05
RUNS = 0.2
"""Share of the window for which a thread that runs has run."""


class Census:
    """The threads of one worker, from before its candidate is loaded."""

    def __init__(self, pid: int) -> None:
        """Those that are there are ours."""
        self._pid = pid
        self._ours = frozenset(proc.threads(pid))
        self._known = self._ours

    def first_call_is_over(self) -> None:
        """What libraries start when they are first used is there by now."""
        self._known = frozenset(proc.threads(self._pid))

    def look(self) -> None:
        """Refusal when a later call left a thread, or one runs while no call does."""
        late = self._new(self._known)
        deadline = time.monotonic() + LEAVE_S
        while late and time.monotonic() < deadline:
            time.sleep(0.005)
            late &= self._new(self._known)
        if late:
            raise Refusal("thread_left", f"{_counted(len(late))} that a later call started")
        if self._new(self._ours):
            self._look_for_work()

    def _look_for_work(self) -> None:
        time.sleep(SETTLE_S)
        before = {thread: proc.ran_ns(self._pid, thread) for thread in self._new(self._ours)}
        time.sleep(WINDOW_S)
        least = RUNS * 1e9 * WINDOW_S
        ran = [t for t, ns in before.items() if proc.ran_ns(self._pid, t) - ns > least]
        if ran:
            raise Refusal("thread_left", f"{_counted(len(ran))} running while no call does")

    def _new(self, since: frozenset[int]) -> set[int]:
        now = proc.threads(self._pid)
        return {t for t, name in now.items() if t not in since and not name.startswith(_LIBRARIES)}


def _counted(number: int) -> str:
    return "a thread" if number == 1 else f"{number} threads"
