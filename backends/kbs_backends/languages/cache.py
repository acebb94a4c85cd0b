"""Compiled files by content: one folder per key, complete or absent, shared by processes.

A key is made of everything that decides the compiler's answer. An entry is built in a folder
of its own and renamed into place, so that a killed compiler leaves nothing that is believed.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock

from kbs_engine.decoding import decode_json
from kbs_engine.errors import StoreError
from kbs_engine.results import Compiled

RECORD = "built.json"
SCHEMA_VERSION = 1


class CacheKey(msgspec.Struct, frozen=True, kw_only=True):
    """What decides a compiler's answer. The source's text is the variant."""

    source_sha256: str
    arch: str
    compiler: str
    """Name and version, as the compiler prints it."""
    flags: tuple[str, ...] = ()
    call: dict[str, Any] = msgspec.field(default_factory=dict)
    """Argument types or dims where the language compiles per call; header folders by hash."""
    schema_version: int = SCHEMA_VERSION

    @property
    def digest(self) -> str:
        """Name of the entry's folder."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry as stored: the answer, and its files by kind with their hashes."""

    compiled: Compiled
    files: dict[str, str] = msgspec.field(default_factory=dict)
    """Kind → file name."""
    sha256: dict[str, str] = msgspec.field(default_factory=dict)
    """Kind → hash of the content."""


Builder = Callable[[Path], tuple[Compiled, Mapping[str, Path]]]
"""Compiles into the folder it is given; files named must stand in that folder."""


class CompileCache:
    """A folder of compiled entries. Failed compilations are answers too, and are kept."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; it is made on first use."""
        self.folder = folder

    def get(self, key: CacheKey) -> tuple[Compiled, dict[str, Path]] | None:
        """The entry with ``cached`` set, or None; a damaged entry is removed and is None."""
        folder = self.folder / key.digest
        try:
            entry = decode_json((folder / RECORD).read_bytes(), Entry)
            files = {kind: folder / name for kind, name in entry.files.items()}
            whole = all(_sha256(path) == entry.sha256[kind] for kind, path in files.items())
        except FileNotFoundError:
            whole = not folder.exists()
            if whole:
                return None
        except (OSError, msgspec.MsgspecError, KeyError):
            whole = False
        if not whole:
            shutil.rmtree(folder, ignore_errors=True)
            return None
        return msgspec.structs.replace(entry.compiled, cached=True), files

    def build(self, key: CacheKey, builder: Builder) -> tuple[Compiled, dict[str, Path]]:
        """The entry of ``key``, built once even when several processes ask at the same time.

        Raises:
            StoreError: The folder cannot be written.
        """
        with self._lock(key):
            found = self.get(key)
            if found is not None:
                return found
            return self._build(key, builder)

    def _lock(self, key: CacheKey) -> FileLock:
        self._make_folder()
        return FileLock(str(self.folder / f"{key.digest}.lock"))

    def _build(self, key: CacheKey, builder: Builder) -> tuple[Compiled, dict[str, Path]]:
        work = Path(tempfile.mkdtemp(dir=self.folder, prefix=".building-"))
        try:
            compiled, made = builder(work)
            names = {kind: path.name for kind, path in made.items()}
            hashes = {kind: _sha256(path) for kind, path in made.items()}
            for path in work.iterdir():
                if path not in made.values():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            record = Entry(compiled=compiled, files=names, sha256=hashes)
            (work / RECORD).write_bytes(msgspec.json.encode(record))
            folder = self.folder / key.digest
            work.replace(folder)
        except OSError as problem:
            raise _unwritable(self.folder, problem) from problem
        finally:
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(work)
        return compiled, {kind: folder / name for kind, name in names.items()}

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise _unwritable(self.folder, problem) from problem


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _unwritable(folder: Path, problem: OSError) -> StoreError:
    return StoreError(
        f"the compile cache cannot be written: {problem.strerror or problem}",
        where=str(folder),
        remedy="free space or fix the folder's permissions, then run the command again",
    )
