"""Readers mark the generation that they use, so that no ingest removes it under them.

A shared lock on the manifest, which needs no write permission and dies with the process.
Where the system has no such lock (Windows), open files resist removal by themselves.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl


class Lease:
    """One reader's hold on one generation."""

    def __init__(self, file: BinaryIO) -> None:
        """Keep the locked file open."""
        self._file = file

    @classmethod
    def take(cls, path: Path) -> Lease | None:
        """Hold ``path``; None when it is gone."""
        try:
            file = path.open("rb")
        except OSError:
            return None
        if sys.platform != "win32":
            # A file system without locks (some NFS) leaves the two kept generations as guard.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if path.exists():
            return cls(file)
        file.close()
        return None

    def release(self) -> None:
        """Let go."""
        self._file.close()


def is_free(path: Path) -> bool:
    """Whether no reader holds ``path``."""
    if sys.platform == "win32":
        return True
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        return False
    except OSError:
        return True
