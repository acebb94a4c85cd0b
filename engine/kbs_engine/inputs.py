"""Reading a file that somebody named: a regular one, and never one that could wait for ever.

A pipe that nobody writes to hangs its reader, a device may have no end. Faults are OSErrors, as
those of ``Path.read_bytes``, so that each reader tells them in its own words.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

_OWN: Final = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/(?:self|thread-self|\d+)/fd/\d+")
"""What a shell hands over: somebody writes to it, so it may be a pipe."""
_KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_regular(path: Path) -> bytes:
    """The content of a regular file, or of what a shell hands over (``/dev/stdin``, ``<(…)``).

    Raises:
        OSError: It cannot be read, or is a pipe, socket or device.
    """
    _refuse(path, path.stat().st_mode)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        _refuse(path, os.fstat(handle).st_mode)  # it may be another file by now
        os.set_blocking(handle, True)
        return file.read()


def read_regular_text(path: Path, encoding: str = "utf-8") -> str:
    """The same as text, every line end a newline.

    Raises:
        OSError: As ``read_regular``.
        UnicodeDecodeError: It is no such text.
    """
    return read_regular(path).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def _refuse(path: Path, mode: int) -> None:
    """OSError for what is no regular file, unless a shell hands it over."""
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if _OWN.fullmatch(str(path)) and (stat.S_ISFIFO(mode) or _terminal(path)):
        return
    kind = next((word for test, word in _KINDS if test(mode)), "something else")
    raise OSError(errno.EINVAL, f"it is {kind}, no regular file", str(path))


def _terminal(path: Path) -> bool:
    """Whether a path of our own is a terminal: a person may type what is asked for."""
    number = re.search(r"\d+\Z", str(path))
    handle = int(number[0]) if number else 0
    try:
        return os.isatty(handle)
    except OSError:
        return False
