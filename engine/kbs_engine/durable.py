"""Writing files so that a crash leaves the old one or the new one, whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from kbs_engine.errors import StoreError


def write_whole(path: Path, data: bytes | str) -> None:
    """Write ``data`` to ``path`` through a synced temporary file beside it, and rename it.

    Raises:
        StoreError: The disk is full or the folder cannot be written; ``path`` is as before.
    """
    content = data.encode() if isinstance(data, str) else data
    temporary = ""
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
    except OSError as problem:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise StoreError(
            f"cannot be written: {problem.strerror or problem}",
            where=str(path),
            remedy="free space or fix the folder's permissions, then run the command again",
        ) from problem


def sync_folder(folder: Path) -> None:
    """Make a rename or a new name in ``folder`` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
