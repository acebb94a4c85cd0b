"""Workers that have opened the device ahead of need, and wait for a candidate.

A process that opens a GPU needs 0.2 s and more, nearly all of it in the driver, which opens one
context after the other. Whoever measures one kernel never meets this; a loop, which needs some
thirty processes for a version, finds them open: they are started, one by one, while no job
waits, and open the device while sources compile or somebody thinks. Nothing of a candidate was
ever loaded in them, so that every candidate still has a process of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kbs_backends.device.live import LiveWorker
from kbs_backends.device.refusal import Refusal
from kbs_engine.errors import MeasurementError

MOST = 32
"""What a version needs: four checks, two looks at four arms, the checks of three ablations, and
five arms in three processes each."""
SHARE = 0.15
"""So much of the device's memory may they hold together."""
CONTEXT_BYTES = 640 << 20
"""What is allowed for one open device: 618 MiB on an H200, driver 580, before any kernel."""
AT_ONCE = 2
"""So many open the device at a time, as the driver opens one after the other: whoever needs quiet
never waits for more."""
TICK_S = 0.01
"""Between two looks at those that are opening the device."""
FROM_JOB = 3
"""A caller who has had so many kernels judged is expected to go on."""


def how_many(device_bytes: int) -> int:
    """How many may wait on a GPU with so much memory."""
    return min(MOST, int(SHARE * device_bytes / CONTEXT_BYTES))


class Ready:
    """The workers that wait; one that dies meanwhile is dropped."""

    def __init__(self, start: Callable[[], LiveWorker], most: int, *, many: bool = False) -> None:
        """``start`` forks a worker and has it open the device; ``most`` 0: none ever waits.

        ``many``: the caller has said that it will go on, and need not be seen to.
        """
        self._start = start
        self._most = most
        self._from_job = 0 if many else FROM_JOB
        self._waiting: deque[LiveWorker] = deque()
        self._judged = 0

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def judged(self) -> None:
        """A kernel is judged: a caller who has had some judged is expected to go on."""
        self._judged += 1

    def add(self) -> float | None:
        """Have one more wait, unless enough are still opening the device.

        Returns:
            Seconds after which it is to be called again; None where there are enough, or the
            caller may not go on.
        """
        if self._judged < self._from_job or len(self._waiting) >= self._most:
            return None
        for worker in list(self._waiting):
            if not worker.is_open and worker.has_answered:
                self._see_open(worker)
        if sum(not worker.is_open for worker in self._waiting) >= AT_ONCE:
            return TICK_S
        try:
            self._waiting.append(self._start())
        except (Refusal, MeasurementError):
            return None  # no job was lost; the next one meets the same and tells it
        return 0.0

    def take(self) -> LiveWorker | None:
        """The one that has waited longest; None when none is left."""
        while self._waiting:
            worker = self._waiting.popleft()
            if worker.alive:
                return worker
            worker.end()
        return None

    def quiet(self) -> None:
        """Wait until all have opened the device: opening disturbs what is timed."""
        for worker in list(self._waiting):
            self._see_open(worker)

    def end(self) -> None:
        """End all: their memory is needed, or the device is closed."""
        for worker in self._waiting:
            worker.kill()
        while self._waiting:
            self._waiting.popleft().end()

    def _see_open(self, worker: LiveWorker) -> None:
        """Wait until it has opened the device; one that died is dropped."""
        if not _opened(worker):
            self._waiting.remove(worker)
            worker.end()


def _opened(worker: LiveWorker) -> bool:
    """False when it died: nobody's kernel is in it."""
    try:
        worker.opened()
    except (Refusal, MeasurementError):
        return False
    return True
