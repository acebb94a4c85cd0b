"""Writing files so that a crash leaves the old one or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kbs_engine.errors import StoreError

REMEDY: Final = "free space or fix the folder's permissions, then run the command again"


@contextlib.contextmanager
def told_unwritable(path: Path, remedy: str = REMEDY) -> Iterator[None]:
    """Tell an OSError of what is written inside as a StoreError about ``path``."""
    try:
        yield
    except OSError as problem:
        raise StoreError(
            f"cannot be written: {problem.strerror or problem}", where=str(path), remedy=remedy
        ) from problem


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless it is there; StoreError where that fails."""
    with told_unwritable(folder):
        folder.mkdir(parents=True, exist_ok=True)


def require_writable(folder: Path) -> None:
    """StoreError where nothing could be written below ``folder``; it is not made.

    For commands that write only after they measured: they ask beforehand.
    """
    nearest = next(one for one in (folder, *folder.absolute().parents) if os.path.lexists(one))
    with told_unwritable(folder), tempfile.TemporaryFile(dir=nearest):
        return


def write_whole(path: Path, data: bytes | str) -> None:
    """Write ``data`` to ``path`` through a synced temporary file beside it, and rename it.

    Raises:
        StoreError: The disk is full or the folder cannot be written; ``path`` is as before.
    """
    content = data.encode() if isinstance(data, str) else data
    temporary = ""
    with told_unwritable(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
            sync_folder(path.parent)
        except OSError:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            raise


def sync_folder(folder: Path) -> None:
    """Make a rename or a new name in ``folder`` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
