"""Re-anchoring: the line numbers of moved citations, and nothing else."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kbs_engine.errors import InputError

Edit = tuple[tuple[int, int], int]
"""Where digits stand in the text, and the line number that replaces them."""


def reanchored(text: str, edits: Sequence[Edit]) -> str:
    """The text with new line numbers; spans that are no digits are left alone."""
    parts: list[str] = []
    end = 0
    for (first, last), line in sorted(edits):
        if first < end or not text[first:last].isdecimal():
            continue
        parts.extend((text[end:first], str(line)))
        end = last
    parts.append(text[end:])
    return "".join(parts)


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file in one step, keeping its permissions; InputError when it cannot be."""
    target = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise _unwritable(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot be re-anchored: {error.strerror}",
        where=str(path),
        remedy="make the file and its folder writable, or run without --fix",
    )
