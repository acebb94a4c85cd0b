"""The one handler: what a user is told when a command fails, and the exit code."""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import traceback
from datetime import datetime, timezone
from pathlib import Path

import click

from kbs_engine.errors import KbsError


def report_failure(failure: BaseException, arguments: list[str]) -> int:  # noqa: PLR0911 - one a kind
    """Print one message on stderr and return the exit code."""
    if isinstance(failure, SystemExit):
        return failure.code if isinstance(failure.code, int) else 2
    if isinstance(failure, BrokenPipeError):
        _abandon_output()
        return 0
    if isinstance(failure, OSError) and failure.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
        _abandon_output()
        _tell(arguments, f"cannot write: {failure.strerror}", failure.filename or "output",
              "free space or send the output elsewhere")  # fmt: skip
        return 2
    if isinstance(failure, click.exceptions.NoArgsIsHelpError):
        sys.stdout.write(failure.format_message() + "\n")
        return 0
    if isinstance(failure, (KeyboardInterrupt, click.Abort)):
        _tell(arguments, "interrupted", "", "nothing was left half done; run it again")
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
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - kept open


def prepare_output() -> None:
    """Make stdout and stderr writable whatever the terminal, before anything is printed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


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
    path.write_text(f"kbs {' '.join(arguments)}\n\n{text}", encoding="utf-8")
    return path
