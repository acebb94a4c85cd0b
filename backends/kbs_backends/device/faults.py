"""From what a candidate raised to a reason code; runs in the worker, so it is only a claim."""

from __future__ import annotations

import errno
import traceback

_STICKY = ("illegal memory access", "illegal address", "misaligned address",
           "unspecified launch failure", "illegal instruction", "device-side assert",
           "hardware stack error")  # fmt: skip
_LAUNCH = ("invalid configuration argument", "too many resources requested", "out of resource",
           "invalid device function", "no kernel image", "launch out of resources")  # fmt: skip
_MEMORY = ("out of memory", "can't allocate memory", "cannot allocate memory")
_COMPILE = ("CompilationError", "CompileTimeAssertionFailure", "PTXASError", "UnsupportedLanguage")
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
    text = str(problem).lower()
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


def tell(problem: BaseException) -> str:
    """The exception in one line, then the end of its traceback."""
    head = "".join(traceback.format_exception_only(type(problem), problem)).strip()
    body = "".join(traceback.format_exception(problem)).strip()
    return f"{head[: LONGEST // 4]}\n{body[-LONGEST:]}"


def _has(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)
