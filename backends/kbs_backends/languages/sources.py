"""Reading a kernel's source: UTF-8, with errors that a user can act on."""

from __future__ import annotations

from pathlib import Path

from kbs_engine.errors import InputError
from kbs_engine.inputs import read_regular_text


def read_source(path: Path) -> str:
    """The text of a source file; InputError when there is none or it is not text."""
    try:
        return read_regular_text(path, "utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(
            f"is not UTF-8 text (byte {problem.start})", where=str(path),
            remedy="give the kernel's source, not a binary",
        ) from problem  # fmt: skip
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}", where=str(path),
            remedy="check the path and its permissions",
        ) from problem  # fmt: skip
