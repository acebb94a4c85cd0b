"""The end of an owner that makes no step: it runs the user's reference, which may never end.

Python code cannot be interrupted from outside, so the whole process ends; the caller tells why, and
its next request starts a new one. What a candidate may take is the workers' own affair (``Watch``).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

STUCK: Final = 75
"""Exit status of an owner that ended itself so."""
_TICK_S: Final = 1.0


class Patience:
    """Watches over one thread; a step is whatever shows that it goes on."""

    def __init__(self, limit_s: float, end: Callable[[], object]) -> None:
        """``end`` is called from a thread of its own once no step was made for ``limit_s``."""
        self._limit_s = limit_s
        self._end = end
        self._since: float | None = None
        threading.Thread(target=self._look, name="kbs-patience", daemon=True).start()

    def step(self) -> None:
        """It goes on."""
        if self._since is not None:
            self._since = time.monotonic()

    @contextlib.contextmanager
    def job(self) -> Iterator[None]:
        """Something is being done: outside of this nobody is impatient."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None

    def _look(self) -> None:
        while True:
            time.sleep(min(_TICK_S, self._limit_s / 4))
            since = self._since
            if since is not None and time.monotonic() - since > self._limit_s:
                self._end()
                return
