"""The files of a wiki: found, checked and hashed before anything reads them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec

from kbs_engine.errors import WikiError
from kbs_ingest.wiki.faults import Faults
from kbs_ingest.wiki.markdown import unify_lines

MAX_BYTES = 2 * 1024 * 1024
TEXT_SUFFIXES = frozenset({".md", ".yaml", ".yml"})
CODE_SUFFIXES = frozenset({".cu", ".cuh", ".cpp", ".hpp", ".h", ".hip", ".py"})
FOREIGN_SUFFIXES = frozenset({".md"})
"""What is read of a wiki in another layout: its pages, for search."""
NATIVE_FOLDERS = frozenset({"hardware", "methods", "symptoms", "signatures", "metrics", "measured"})
"""Folders of docs/wiki-format.md that show that a root follows it."""


class WikiRoot(msgspec.Struct, frozen=True, kw_only=True):
    """One folder of knowledge. ``name`` is empty for the first, else its citation prefix."""

    name: str
    path: Path
    native: bool


class WikiFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file with its place in citations."""

    root: WikiRoot
    relative: str
    data: bytes

    @property
    def path(self) -> str:
        """The path that citations use."""
        return f"{self.root.name}/{self.relative}" if self.root.name else self.relative

    @property
    def sha256(self) -> str:
        """Content hash."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def suffix(self) -> str:
        """The ending, with its dot."""
        return PurePosixPath(self.relative).suffix.lower()

    @property
    def stem(self) -> str:
        """The file name without its ending."""
        return PurePosixPath(self.relative).stem

    @property
    def folder(self) -> str:
        """The first folder below the root, or empty."""
        return self.relative.split("/")[0] if "/" in self.relative else ""

    def text(self) -> str:
        """The content; WikiError when it is not UTF-8."""
        try:
            return unify_lines(self.data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = self.data[: error.start].count(b"\n") + 1
            raise WikiError(
                "not UTF-8 text", where=f"{self.path}:{line}", remedy="save it as UTF-8"
            ) from error


def name_roots(paths: Sequence[Path]) -> tuple[WikiRoot, ...]:
    """Give each root its citation prefix; WikiError when one is not a folder."""
    roots: list[WikiRoot] = []
    taken: set[str] = set()
    for path in paths:
        if not path.is_dir():
            raise WikiError(
                "no such wiki folder", where=str(path), remedy="name an existing folder"
            )
        here = path.resolve()
        if not roots:
            taken.update(entry.name for entry in here.iterdir())
        name = _free_name(here.name or "wiki", taken) if roots else ""
        taken.add(name)
        roots.append(WikiRoot(name=name, path=here, native=_is_native(here)))
    return tuple(roots)


def _is_native(root: Path) -> bool:
    return (
        any((root / folder).is_dir() for folder in NATIVE_FOLDERS)
        or (root / "isa/features.yaml").is_file()
        or any((root / "cases").glob("*.yaml"))
    )


def _free_name(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name


def read_files(root: WikiRoot, faults: Faults) -> list[WikiFile]:
    """Every file that kbs reads below ``root``, sorted; refused ones become faults."""
    files = []
    for path in _walk(root, faults):
        relative = path.relative_to(root.path).as_posix()
        shown = f"{root.name}/{relative}" if root.name else relative
        if not _inside(path, root.path):
            faults.add(
                f"{shown}:1",
                "is a link that leaves the wiki",
                "copy the file into the wiki instead of linking it",
            )
            continue
        data = _data(path, f"{shown}:1", faults)
        if data is not None:
            files.append(WikiFile(root=root, relative=relative, data=data))
    return sorted(files, key=lambda file: file.relative)


def _data(path: Path, where: str, faults: Faults) -> bytes | None:
    """The content of a regular file of bearable size; None with a fault for anything else."""
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            faults.add(where, "is no regular file (a pipe, socket or device)", "take it away")
            return None
        if state.st_size > MAX_BYTES:
            faults.add(
                where,
                f"has {state.st_size} bytes, more than {MAX_BYTES}",
                "split it into smaller pages",
            )
            return None
        return path.read_bytes()
    except OSError as error:
        faults.add(where, f"cannot be read: {error.strerror}", "check its permissions")
        return None


def _walk(root: WikiRoot, faults: Faults) -> Iterator[Path]:
    suffixes = TEXT_SUFFIXES | CODE_SUFFIXES if root.native else FOREIGN_SUFFIXES
    for folder, subfolders, names in os.walk(root.path, followlinks=False):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        here = Path(folder)
        for name in subfolders:
            if (here / name).is_symlink() and not _inside(here / name, root.path):
                shown = (here / name).relative_to(root.path).as_posix()
                faults.add(
                    f"{root.name}/{shown}:1" if root.name else f"{shown}:1",
                    "is a link that leaves the wiki",
                    "copy the folder into the wiki, or pass it as its own --wiki",
                )
        for name in sorted(names):
            suffix = PurePosixPath(name).suffix.lower()
            if not name.startswith(".") and suffix in suffixes:
                yield here / name


def _inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):
        return False
