"""From what a candidate raised to a reason code; runs in the worker, so it is only a claim."""

from __future__ import annotations

import errno
import traceback
from pathlib import Path

from kbs_engine.errors import KbsError

_STICKY = ("illegal memory access", "illegal address", "misaligned address",
           "unspecified launch failure", "illegal instruction", "device-side assert",
           "hardware stack error")  # fmt: skip
_LAUNCH = ("invalid configuration argument", "too many resources requested", "out of resource",
           "invalid device function", "no kernel image", "launch out of resources")  # fmt: skip
_MEMORY = ("out of memory", "can't allocate memory", "cannot allocate memory")
_COMPILE = ("CompilationError", "CompileTimeAssertionFailure", "PTXASError", "UnsupportedLanguage")
_OURS = str(Path(__file__).resolve().parents[1])
LONGEST = 4000
"""Characters of a traceback that are kept."""


def code_of(problem: BaseException, *, loading: bool) -> str:
    """The reason code of an exception, or of the one that it was raised from."""
    cause: BaseException | None = problem
    while cause is not None:
        code = _code(cause)
        if code:
            return code
        cause = cause.__cause__
    return "load_failed" if loading else "raised"


def _code(problem: BaseException) -> str:
    text = _said(problem).lower()
    name = type(problem).__name__
    found = {
        "out_of_memory": isinstance(problem, MemoryError) or name == "OutOfMemoryError"
        or _has(text, _MEMORY),
        "wrote_too_much": isinstance(problem, OSError)
        and problem.errno in (errno.EFBIG, errno.ENOSPC),
        "exited": isinstance(problem, SystemExit),
        "illegal_access": _has(text, _STICKY),
        "launch_failed": _has(text, _LAUNCH) or name == "OutOfResources",
        "compile_failed": name in _COMPILE,
    }  # fmt: skip
    return next((code for code, holds in found.items() if holds), "")


def _said(problem: BaseException) -> str:
    """Its type and words; its own ``str`` may fail."""
    return "".join(traceback.format_exception_only(type(problem), problem))


def tell(problem: BaseException, folder: str = "") -> str:
    """The exception in one line, then the end of the candidate's own traceback.

    Frames of this harness are left out, and files of ``folder`` are called by their names alone:
    what is told is about the user's file.
    """
    root = _root(problem)
    text = str(problem) if isinstance(problem, KbsError) and root is problem else _line(problem)
    body = ""
    told = traceback.TracebackException.from_exception(root)
    _only_theirs(told)
    if told.stack or isinstance(root, SyntaxError):
        body = "".join(told.format()).strip()
    head, body = _named(text, folder), _named(body, folder)
    return f"{head[: LONGEST // 4]}\n{body[-LONGEST:]}".strip()


def _root(problem: BaseException) -> BaseException:
    """What the candidate raised, under the errors that we made of it."""
    while isinstance(problem, KbsError) and problem.__cause__ is not None:
        problem = problem.__cause__
    return problem


def _line(problem: BaseException) -> str:
    if isinstance(problem, KbsError):
        return f"{problem.where}: {problem.message}" if problem.where else problem.message
    return "".join(traceback.format_exception_only(type(problem), problem)).strip()


def _only_theirs(told: traceback.TracebackException | None) -> None:
    """Drop the frames before the first that is not ours, here and in what it was raised from."""
    while told is not None:
        ours = (frame.filename.startswith((_OURS, "<frozen importlib")) for frame in told.stack)
        first = next((n for n, own in enumerate(ours) if not own), len(told.stack))
        told.stack[:] = told.stack[first:]
        told = told.__cause__ or told.__context__


def _named(text: str, folder: str) -> str:
    return text.replace(f"{folder.rstrip('/')}/", "") if folder else text


def _has(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)
