"""The one handler: what a user is told when a command fails, and the exit code."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from datetime import datetime, timezone
from pathlib import Path

import click

from kbs_engine.errors import KbsError


def report_failure(failure: BaseException, arguments: list[str]) -> int:
    """Print one message on stderr and return the exit code."""
    if isinstance(failure, SystemExit):
        return failure.code if isinstance(failure.code, int) else 2
    if isinstance(failure, BrokenPipeError):
        # the reader of our output went away; keep the interpreter from saying so at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
