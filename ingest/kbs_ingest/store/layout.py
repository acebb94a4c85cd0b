"""Where things lie in the home folder, and how a new generation takes over.

``index/gen-000012/{kbs.duckdb, lance/, manifest.json}`` and ``index/CURRENT`` with the name
of the generation that readers open. A generation without a manifest is half built.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import StoreError
from kbs_ingest.store.lease import Lease, is_free

SCHEMA_VERSION = 5
"""Rises whenever what is stored or how files are read changes."""
KEPT_GENERATIONS = 2
_PREFIX = "gen-"


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a generation was built from."""

    schema_version: int
    generation: int
    built: str
    files: dict[str, str]
    segments: dict[str, int]
    """Experience segment to the bytes of it that were read."""
    segment_hashes: dict[str, str]
    roots: dict[str, str]
    """Citation prefix to folder."""
    model: str
    model_location: str
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    contents: dict[str, int] = msgspec.field(default_factory=dict)
    """Each file of the generation with its size, so that a loss is seen without opening it."""
    shadows: tuple[str, ...] = ()
    """Pages that replace another of their id and state other values, one line each."""


def ingest_command(home: Path, *, rebuild: bool = False) -> str:
    """The command that indexes into ``home``, as a shell takes it."""
    return f"kbs --home {shlex.quote(str(home))} ingest" + (" --rebuild" if rebuild else "")


class Version(msgspec.Struct, frozen=True):
    """The only part of a manifest that every version of kbs can read."""

    schema_version: int


class Home(msgspec.Struct, frozen=True):
    """Paths below one home folder."""

    path: Path

    @property
    def index(self) -> Path:
        """The folder of generations."""
        return self.path / "index"

    @property
    def current(self) -> Path:
        """The pointer to the generation in use."""
        return self.index / "CURRENT"

    @property
    def lock(self) -> Path:
        """Held while an ingest runs."""
        return self.index / "ingest.lock"

    @property
    def experience(self) -> Path:
        """The folder of outcome segments."""
        return self.path / "experience"

    def generation(self, number: int) -> Path:
        """The folder of one generation."""
        return self.index / f"{_PREFIX}{number:06d}"

    def current_generation(self) -> Path | None:
        """The folder that CURRENT names; None before the first ingest."""
        try:
            name = self.current.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(
                f"the index pointer cannot be read: {error}",
                where=str(self.current),
                remedy=f"run {ingest_command(self.path, rebuild=True)}",
            ) from error
        if not name.startswith(_PREFIX) or not name[len(_PREFIX) :].isdigit():
            raise StoreError(
                "the index pointer names no generation",
                where=str(self.current),
                remedy=f"run {ingest_command(self.path, rebuild=True)}",
            )
        return self.index / name


def read_manifest(folder: Path, home: Path) -> Manifest:
    """The manifest; StoreError when it is missing, or of another version of kbs."""
    path = folder / "manifest.json"
    rebuild = f"run {ingest_command(home, rebuild=True)}"
    try:
        data = path.read_bytes()
        version = decode_json(data, Version).schema_version
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise StoreError(
            f"the index is damaged: {error}", where=str(path), remedy=rebuild
        ) from error
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"index was written by a newer kbs (schema {version}, this one reads {SCHEMA_VERSION})",
            where=str(path),
            remedy=f"upgrade kbs or {rebuild}",
        )
    if version < SCHEMA_VERSION:
        raise StoreError(
            f"index was written by an older kbs (schema {version}, this one reads "
            f"{SCHEMA_VERSION})",
            where=str(path),
            remedy=f"run {ingest_command(home)}",
        )
    try:
        return decode_json(data, Manifest)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"the index is damaged: {error}", where=str(path), remedy=rebuild
        ) from error


def schema_version(folder: Path) -> int | None:
    """The version that a generation states, or None when it states none."""
    try:
        data = (folder / "manifest.json").read_bytes()
        return decode_json(data, Version).schema_version
    except (OSError, msgspec.DecodeError):
        return None


def contents(folder: Path) -> dict[str, int]:
    """Each file of a generation with its size, but for the manifest itself."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != folder / "manifest.json"
    }


def is_whole(folder: Path, manifest: Manifest) -> bool:
    """Whether every file that was written is there in its size."""

    def same(name: str, size: int) -> bool:
        try:
            return (folder / name).stat().st_size == size
        except OSError:
            return False

    written = manifest.contents
    return bool(written) and all(same(name, size) for name, size in written.items())


def next_number(home: Home) -> int:
    """One more than any generation that ever left a folder."""
    return max((_number(folder) for folder in _folders(home)), default=0) + 1


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Mark a generation as complete."""
    _write_durably(folder / "manifest.json", msgspec.json.encode(manifest))


def swap_current(home: Home, folder: Path) -> None:
    """Let new readers open ``folder``; a crash leaves the old pointer or the new one."""
    _write_durably(home.current, f"{folder.name}\n".encode())


def _write_durably(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_half_built(home: Home) -> None:
    """Remove generations that a crash left without a manifest, and stray temporary files."""
    for folder in _folders(home):
        if not (folder / "manifest.json").exists():
            shutil.rmtree(folder, ignore_errors=True)
    for stray in home.index.glob("*.tmp"):
        stray.unlink(missing_ok=True)


def remove_old(home: Home, current: Path) -> None:
    """Remove generations beyond the last ones that no reader holds.

    What cannot be removed (a reader on another system, permissions) stays and is tried again
    by the next ingest: leftovers cost space, never answers.
    """
    finished = sorted(folder for folder in _folders(home) if folder != current)
    for folder in finished[: max(0, len(finished) - (KEPT_GENERATIONS - 1))]:
        if is_free(folder / "manifest.json"):
            shutil.rmtree(folder, ignore_errors=True)


def open_current(home: Home) -> tuple[Path, Manifest, Lease]:
    """The generation in use, held so that no ingest removes it; StoreError without one."""
    for _ in range(3):
        folder = home.current_generation()
        if folder is None:
            break
        lease = Lease.take(folder / "manifest.json")
        if lease is not None:
            return folder, read_manifest(folder, home.path), lease
    raise StoreError(
        "there is no index here yet" if folder is None else f"the index lacks {folder.name}",
        where=str(home.index),
        remedy=f"run {ingest_command(home.path)}",
    )


def _folders(home: Home) -> list[Path]:
    if not home.index.is_dir():
        return []
    return sorted(
        entry
        for entry in home.index.iterdir()
        if entry.name.startswith(_PREFIX) and entry.name[len(_PREFIX) :].isdigit()
    )


def _number(folder: Path) -> int:
    return int(folder.name[len(_PREFIX) :])
