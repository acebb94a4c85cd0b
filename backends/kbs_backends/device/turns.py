"""Whose turn it is on a GPU: one job after the other, and the sanitizer beside checks.

What is timed or profiled runs alone. A check and a sanitizer only judge, so they share the
device: a job ``aside`` begins in its turn, and what comes behind it waits for its end only where
it must be alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")


class Turns:
    """The queue of one device; everything but what runs aside is done on one thread."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._queue = ThreadPoolExecutor(1, thread_name_prefix="kbs-device")
        self._side = ThreadPoolExecutor(1, thread_name_prefix="kbs-aside")
        self._aside: list[Future[Any]] = []
        """Touched on the queue's thread alone."""
        self._lock = threading.Lock()
        self._queued = 0

    def submit(self, run: Callable[[], T], *, alone: bool) -> Future[T]:
        """In its turn; ``alone``: once nothing runs aside any more."""

        def begun() -> T:
            if alone:
                self._settle()
            return run()

        return self._put(begun)

    def aside(self, begin: Callable[[], Callable[[], T]]) -> Future[T]:
        """What ``begin``, in its turn and on the queue's thread, returns is run aside."""
        outer: Future[T] = Future()

        def begun() -> None:
            if not outer.set_running_or_notify_cancel():
                return
            try:
                inner = self._side.submit(begin())
            except BaseException as problem:  # noqa: BLE001 - handed to whoever waits
                outer.set_exception(problem)
                return
            self._aside.append(inner)
            inner.add_done_callback(lambda done: _hand_over(done, outer))

        self._put(begun).add_done_callback(lambda done: done.cancelled() and outer.cancel())
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

    def close(self, *, amid: bool, end: Callable[[], None]) -> None:
        """Nothing more begins; ``amid``: what runs is ended by ``end``, not waited for."""
        self._queue.shutdown(wait=not amid, cancel_futures=True)
        if amid:
            end()
        self._queue.shutdown(wait=True)
        self._side.shutdown(wait=True, cancel_futures=True)

    def _put(self, run: Callable[[], T]) -> Future[T]:
        def begun() -> T:
            with self._lock:
                self._queued -= 1
            return run()

        with self._lock:
            self._queued += 1
        return self._queue.submit(begun)

    def _settle(self) -> None:
        wait(self._aside)
        self._aside.clear()


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
