"""Programs that a run will call: one that is not there is told before anything is measured."""

from __future__ import annotations

import shlex
import shutil

from kbs_engine.errors import UsageError


def require_program(command: str, where: str) -> None:
    """Refuse a command that cannot be split, or whose program nobody can run.

    Raises:
        UsageError: with the option or setting that gave it.
    """
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise UsageError(
            f"the command cannot be read: {problem}", where=where, remedy="close quotes"
        ) from problem
    if not words:
        raise UsageError("an empty command", where=where, remedy="name a program")
    if shutil.which(words[0]) is None:
        raise UsageError(
            f"{words[0]} is no program that can be run", where=where,
            remedy="give its path, or the name of one on PATH; it must be executable",
        )  # fmt: skip
