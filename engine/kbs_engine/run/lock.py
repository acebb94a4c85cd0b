"""One writer at a time: a lock that a killed process gives up by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from kbs_engine.durable import make_folder, told_unwritable
from kbs_engine.errors import StoreError

_HELD: Final[set[str]] = set()
"""POSIX locks do not shut out their own process; this does."""


class WriterLock:
    """The lock of a run folder. Forked workers do not inherit it, so an orphan never holds it."""

    def __init__(self, path: Path) -> None:
        """Keep the path of the lock file."""
        self.path = path
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock at once; StoreError naming the holder when somebody has it."""
        import fcntl

        make_folder(self.path.parent)
        name = str(self.path.resolve())
        if name in _HELD:
            raise self._taken(os.getpid())
        with told_unwritable(self.path):
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            holder = os.read(handle, 32).decode(errors="replace").strip()
            os.close(handle)
            raise self._taken(holder) from problem
        _HELD.add(name)
        self._handle = handle
        try:
            with told_unwritable(self.path):
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
        except StoreError:
            self.release()
            raise

    def release(self) -> None:
        """Give the lock up; nothing happens when it is not held."""
        if self._handle is None:
            return
        os.close(self._handle)
        _HELD.discard(str(self.path.resolve()))
        self._handle = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def _taken(self, holder: object) -> StoreError:
        return StoreError(
            f"another process is writing this run (process {holder})",
            where=str(self.path.parent.parent),
            remedy="wait for it or end it; a killed process leaves no lock",
        )
