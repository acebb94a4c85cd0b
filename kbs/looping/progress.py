"""Progress of a run: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from kbs_engine.loop.actions import Progress
from kbs_engine.loop.asks import RunJobs
from kbs_engine.units import human_ns

if TYPE_CHECKING:
    from rich.status import Status
    from typing_extensions import Self


class Quiet:
    """Shows nothing."""

    def note(self, progress: Progress) -> None:
        """Nothing."""

    def jobs(self, ask: RunJobs, left: int) -> None:
        """Nothing."""

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""


class Lines(Quiet):
    """One line on stderr for every stage that ends."""

    def __init__(self) -> None:
        """The clock starts now."""
        self._began = time.monotonic()

    def note(self, progress: Progress) -> None:
        """Tell a stage that ended."""
        if progress.done:
            sys.stderr.write(f"{line_of(progress, time.monotonic() - self._began)}\n")
            sys.stderr.flush()


class Live(Quiet):
    """A status line that says what runs, on which branch, how long, and the best so far."""

    def __init__(self) -> None:
        """The terminal is asked for nothing before the first line."""
        from kbs.terminal import make_console

        self._console = make_console(stderr=True)
        self._status: Status = self._console.status("starting")
        self._began = time.monotonic()
        self._best: float | None = None
        self._stage = ""

    def __enter__(self) -> Self:
        """Begin to show."""
        self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the status line."""
        self._status.stop()

    def note(self, progress: Progress) -> None:
        """Keep the best time; print stages that ended."""
        self._best = progress.best_ns or self._best
        self._stage = progress.stage
        if progress.done:
            told = line_of(progress, time.monotonic() - self._began)
            self._console.print(told, markup=False, soft_wrap=True)
        self._show(progress.text, progress.version, "")

    def jobs(self, ask: RunJobs, left: int) -> None:
        """Say what is in flight."""
        self._show(f"{ask.what} ({left} jobs left)", ask.version, ask.branch)

    def _show(self, text: str, version: int, branch: str) -> None:
        best = f", best so far {human_ns(self._best)}" if self._best else ""
        where = f"v{version} {branch}".strip()
        took = time.monotonic() - self._began
        self._status.update(f"{where} {text}  [{took:.0f} s{best}]".replace("[", "\\["))


def line_of(progress: Progress, took_s: float) -> str:
    """One stage that ended, as a line of plain text."""
    best = f"  best {human_ns(progress.best_ns)}" if progress.best_ns else ""
    return f"{took_s:7.1f} s  v{progress.version:<2} {progress.stage:<9} {progress.text}{best}"


def choose_show(*, quiet: bool) -> Quiet:
    """Live on a terminal, lines elsewhere, nothing when quiet."""
    if quiet:
        return Quiet()
    return Live() if sys.stderr.isatty() else Lines()
