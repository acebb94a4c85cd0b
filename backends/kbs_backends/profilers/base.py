"""What a profiler is, and what it is asked to run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from kbs_engine.results import Profiled


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A program that makes exactly one call of the kernel inside a profiler range."""

    argv: tuple[str, ...]
    env: dict[str, str] | None = None
    cwd: str | None = None
    timeout_s: float = 300.0

    @property
    def folder(self) -> Path | None:
        """Where it runs."""
        return None if self.cwd is None else Path(self.cwd)


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A finished pass: the answer, and the file to put into the blob store (None without one)."""

    answer: Profiled
    path: Path | None = None

    def stored(self, sha256: str) -> Profiled:
        """The answer once the file is in the blob store under ``sha256``."""
        return msgspec.structs.replace(self.answer, report_sha256=sha256)


class Profiler(Protocol):
    """Counters around one call."""

    @property
    def name(self) -> str:
        """The word for it: ncu, rocprof, counter-free."""
        ...

    def profile(
        self,
        target: Target,
        *,
        sections: tuple[str, ...] = (),
        metrics: tuple[str, ...] = (),
        output: Path,
    ) -> Report:
        """Run ``target`` under the profiler; files go to the folder ``output``.

        Raises:
            MeasurementError: no report came; the message says why and what to do.
        """
        ...


def environment_of(target: Target) -> Mapping[str, str] | None:
    """The environment for ``run_tool``; None inherits."""
    return target.env
