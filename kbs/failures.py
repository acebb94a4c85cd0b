"""The one handler: what a user is told when a command fails, and the exit code."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import sys
import tempfile
import traceback
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Final

import click

from kbs.terminal import escape_output
from kbs_engine.errors import KbsError

PIPE_CLOSED: Final = 128 + 13
"""What a shell reports of a program that SIGPIPE ended."""


class OutputClosedError(Exception):
    """Whoever read our output went away."""


@contextlib.contextmanager
def closed_output_told() -> Iterator[None]:
    """Raise OutputClosedError for a closed pipe, before click and rich make an exit code 1 of it.

    A pipe of our own that broke (to a worker, say) is another matter and stays what it is.
    """
    try:
        yield
    except OSError as failure:
        if failure.errno == errno.EPIPE and _output_closed():
            raise OutputClosedError from failure
        raise
    except SystemExit as failure:
        if isinstance(failure.__context__, BrokenPipeError):  # rich met it, and exits with 1
            raise OutputClosedError from failure
        raise


def _output_closed() -> bool:
    """Whether nobody reads stdout or stderr any more."""
    poll = select.poll()
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None and not stream.closed:
            poll.register(stream.fileno(), 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def report_failure(failure: BaseException, arguments: list[str]) -> int:
    """Print one message on stderr and return the exit code."""
    try:
        return _report(failure, arguments)
    except BrokenPipeError:
        _abandon_output()
        return PIPE_CLOSED


def _report(failure: BaseException, arguments: list[str]) -> int:  # noqa: PLR0911 - one a kind
    if isinstance(failure, SystemExit):
        return failure.code if isinstance(failure.code, int) else 2
    if isinstance(failure, OutputClosedError) or (
        isinstance(failure, BrokenPipeError) and _output_closed()
    ):
        _abandon_output()
        return PIPE_CLOSED
    if isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        _abandon_output()
        _tell(arguments, f"cannot write: {failure.strerror}", failure.filename or "output",
              "free space or send the output elsewhere")  # fmt: skip
        return 2
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        sys.stdout.write(failure.format_message() + "\n")
        return 0
    if isinstance(failure, (KeyboardInterrupt, click.Abort)):
        _tell(
            arguments,
            "interrupted",
            "",
            "nothing was left half done; run it again, or `kbs loop resume RUN` for a run",
        )
        return 130
    if isinstance(failure, KbsError):
        _tell(arguments, failure.message, failure.where, failure.remedy)
        return failure.exit_code
    if isinstance(failure, click.ClickException):
        _tell(arguments, failure.format_message(), "", _usage_remedy(failure))
        return 2
    path = _save_log(failure, arguments)
    _tell(
        arguments,
        f"this is a bug in kbs: {type(failure).__name__}: {failure}",
        "",
        f"please report it with {path}",
    )
    return 2


def _abandon_output() -> None:
    """Nobody takes our output any more; keep the interpreter from saying so at exit."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            stream.flush()
        except (OSError, ValueError):
            _to_nowhere(name, stream)


def _to_nowhere(name: str, stream: IO[str]) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - kept open


def prepare_output() -> None:
    """Make stdout and stderr writable whatever the terminal, before anything is printed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    escape_output()


def _usage_remedy(failure: click.ClickException) -> str:
    context = getattr(failure, "ctx", None)
    name = context.command_path if context else "kbs"
    return f"see `{name} --help`"


def _tell(arguments: list[str], message: str, where: str, remedy: str) -> None:
    if "--json" in arguments:
        error = {"error": {"message": message, "where": where, "remedy": remedy}}
        sys.stderr.write(json.dumps(error, ensure_ascii=False) + "\n")
        return
    place = f"{where}: " if where else ""
    sys.stderr.write(f"kbs: {place}{message}\n")
    if remedy:
        sys.stderr.write(f"     {remedy}\n")


def _save_log(failure: BaseException, arguments: list[str]) -> Path:
    """Keep the traceback for the bug report, outside the home that may be the trouble."""
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    folder = Path(tempfile.mkdtemp(prefix="kbs-bug-"))
    path = folder / f"{stamp}.log"
    text = "".join(traceback.format_exception(type(failure), failure, failure.__traceback__))
    told = f"kbs {' '.join(arguments)}\n\n{text}"
    path.write_text(told, encoding="utf-8", errors="backslashreplace")
    return path
