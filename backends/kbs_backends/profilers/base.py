"""What a profiler is, and what it is asked to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

import msgspec

from kbs_backends.run_tool import ToolRun
from kbs_engine.results import Profiled

OUTPUT: Final = "@output@"
"""Stands in a ``ToolStart`` for the path of the tool's report, without its suffix."""
REPORT_NAME: Final = "profile"
"""Name of a report, without its suffix."""


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


class ToolStart(msgspec.Struct, frozen=True, kw_only=True):
    """How a tool is started, up to the program that it runs."""

    command: tuple[str, ...]
    """The tool and its options; ``OUTPUT`` where the report's path belongs."""
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """Beyond the target's environment."""
    patience: tuple[str, ...] = ()
    """Options that let the tool wait for a program that does not use the GPU yet."""

    def argv(
        self, program: tuple[str, ...], output: Path, *, waits: bool = False
    ) -> tuple[str, ...]:
        """The whole command line for a ``program``, with its report at ``output``."""
        head, *options = self.command
        options = [str(output) if word == OUTPUT else word for word in options]
        return (head, *(self.patience if waits else ()), *options, *program)


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool that had been started ahead did once it was given a target."""

    run: ToolRun
    arguments: tuple[str, ...]
    """What its program was asked to do: they do not stand in the command line."""
    timed_out: bool = False


Turn = Callable[[], None]
"""Waits until nothing else uses the device; a second call returns at once."""


class Ahead(Protocol):
    """Tools that were started ahead of their jobs and wait for what to run."""

    def run(
        self, start: ToolStart, target: Target, into: Path, turn: Turn | None = None
    ) -> Finished | None:
        """Run ``target`` in a tool that waits; files that it leaves go to the folder ``into``.

        With a ``turn`` everything up to the profiler range is done before it is taken.
        None where none waits or anything about it is off: the tool is to be started as usual.
        """
        ...


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
