"""Readers mark the generation that they use, so that no ingest removes it under them.

A shared lock on the manifest, which needs no write permission and dies with the process.
Where the system has no such lock (Windows), open files resist removal by themselves.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class Lease:
    """One reader's hold on one generation, until ``release`` or the end of the object."""

    def __init__(self, descriptor: int) -> None:
        """Keep the locked file open."""
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path) -> Lease | None:
        """Hold ``path``; None when it is gone."""
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            return None
        if sys.platform != "win32":
            # A file system without locks (some NFS) leaves the two kept generations as guard.
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if path.exists():
            return cls(descriptor)
        os.close(descriptor)
        return None

    def release(self) -> None:
        """Let go."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        """A reader that nobody closed holds nothing back."""
        self.release()


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
