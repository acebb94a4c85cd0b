"""Whose turn it is on a GPU: one job after the other, and tools beside checks.

What is timed or profiled runs alone. A check and a sanitizer only judge, so they share the
device: a job ``aside`` begins in its turn, and what comes behind it waits for its end only where
it must be alone. A profiler is ``held``: it opens the device and prepares aside, and is alone
from where it takes its turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from kbs_backends.profilers.base import Turn
from kbs_engine.errors import MeasurementError

T = TypeVar("T")


class Turns:
    """The queue of one device; everything but what runs aside is done on one thread."""

    def __init__(self, quiet: Callable[[], object]) -> None:
        """Nothing runs yet; ``quiet`` is called before what is held may be alone."""
        self._quiet = quiet
        self._queue = ThreadPoolExecutor(1, thread_name_prefix="kbs-device")
        self._side = ThreadPoolExecutor(1, thread_name_prefix="kbs-aside")
        self._holder = ThreadPoolExecutor(1, thread_name_prefix="kbs-held")
        self._aside: list[Future[Any]] = []
        """Touched on the queue's thread alone."""
        self._held: list[_Hold] = []
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._queued = 0

    def submit(self, run: Callable[[], T], *, alone: bool) -> Future[T]:
        """In its turn; ``alone``: once nothing runs aside any more."""

        def begun() -> T:
            if alone:
                self.settle()
            return run()

        return self._put(begun)

    def aside(self, begin: Callable[[], Callable[[], T]]) -> Future[T]:
        """What ``begin``, in its turn and on the queue's thread, returns is run aside."""

        def start() -> Future[T]:
            inner = self._side.submit(begin())
            self._aside.append(inner)
            return inner

        return self._started(start)

    def held(self, begin: Callable[[Turn], Callable[[], T]]) -> Future[T]:
        """The same, of what is alone on the device from where it calls the ``Turn`` it is given.

        The turn comes once all jobs in the queue by then, and those aside, are done.
        """

        def start() -> Future[T]:
            hold = _Hold(self)
            inner = self._holder.submit(begin(hold.take))
            with self._lock:
                self._held.append(hold)
            inner.add_done_callback(lambda _: hold.end())
            return inner

        return self._started(start)

    def _started(self, start: Callable[[], Future[T]]) -> Future[T]:
        outer: Future[T] = Future()

        def begun() -> Future[T] | None:
            return start() if outer.set_running_or_notify_cancel() else None

        def chain(put: Future[Future[T] | None]) -> None:
            if put.cancelled():
                outer.cancel()
                return
            problem = put.exception()
            inner = None if problem else put.result()
            if problem is not None:
                outer.set_exception(problem)
            elif inner is not None:
                inner.add_done_callback(lambda done: _hand_over(done, outer))

        self._put(begun).add_done_callback(chain)
        return outer

    def when_idle(self, run: Callable[[], object]) -> None:
        """In its turn, unless a job waits behind it by then; a closed queue takes nothing."""

        def begun() -> None:
            with self._lock:
                idle = self._queued == 0
            if idle:
                run()

        try:
            self._queue.submit(begun)
        except RuntimeError:
            return  # the device is being closed

    def ask(self) -> None:
        """Something that is held wants its turn; where nothing begins any more it is told so."""
        try:
            self.submit(lambda: None, alone=True)
        except RuntimeError:
            self._closed.set()

    @property
    def closed(self) -> bool:
        """Whether nothing more begins."""
        return self._closed.is_set()

    def close(self, *, amid: bool, end: Callable[[], None]) -> None:
        """Nothing more begins; ``amid``: what runs is ended by ``end``, not waited for."""
        self._closed.set()
        self._queue.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            held = tuple(self._held)
        for one in held:
            one.granted.set()  # where it has not begun to measure it is told that it will not
        if amid:
            end()
        self._queue.shutdown(wait=True)
        self._side.shutdown(wait=True, cancel_futures=True)
        self._holder.shutdown(wait=True, cancel_futures=True)

    def _put(self, run: Callable[[], T]) -> Future[T]:
        def begun() -> T:
            with self._lock:
                self._queued -= 1
            return run()

        with self._lock:
            self._queued += 1
        return self._queue.submit(begun)

    @property
    def shared(self) -> bool:
        """On the queue's thread: whether something aside uses the device now."""
        with self._lock:
            held = bool(self._held)
        return held or not all(future.done() for future in self._aside)

    def settle(self) -> None:
        """On the queue's thread: let everything aside come to its end, each held one alone."""
        wait(self._aside)
        self._aside.clear()
        while True:
            with self._lock:
                if not self._held:
                    return
                hold = self._held.pop(0)
            hold.asked.wait()
            if not hold.ended.is_set():
                self._quiet()
                hold.granted.set()
                hold.ended.wait()


class _Hold:
    """One job that prepares aside and is alone later."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self.asked, self.granted, self.ended = (threading.Event() for _ in range(3))

    def take(self) -> None:
        """On the job's own thread: wait until it is alone; MeasurementError when closed."""
        if not self.asked.is_set():
            self._turns.ask()
            self.asked.set()
        if not self._turns.closed:
            self.granted.wait()
        if self._turns.closed:
            raise MeasurementError("the device is closed", remedy="open a new one")

    def end(self) -> None:
        """It is over, whether it took its turn or not."""
        self.ended.set()
        self.asked.set()


def _hand_over(inner: Future[T], outer: Future[T]) -> None:
    """The end of one future becomes that of another."""
    if inner.cancelled():
        outer.set_exception(RuntimeError("the device was closed before the job began"))
        return
    problem = inner.exception()
    if problem is not None:
        outer.set_exception(problem)
    else:
        outer.set_result(inner.result())
