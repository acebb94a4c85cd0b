"""Where the segments of the experience log lie: ``experience/<origin>/<segment>.jsonl``."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import uuid
from pathlib import Path
from typing import Final

from kbs_engine.durable import write_whole
from kbs_engine.errors import StoreError, UsageError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
SUFFIX: Final = ".jsonl"
ORIGIN_FILE: Final = "ORIGIN"
UNNAMED: Final = "unnamed"
"""Folder of records that came without an origin."""


def experience_folder(home: Path) -> Path:
    """The folder of segments."""
    return home / "experience"


def is_name(text: str) -> bool:
    """Whether ``text`` may name an origin or a segment: one plain file name."""
    return _NAME.fullmatch(text) is not None and ".." not in text


def origin_of(home: Path, given: str | None = None) -> str:
    """Who appends here: ``given``, else ``KBS_ORIGIN``, else a name made once for this home.

    Raises:
        UsageError: The name is none.
        StoreError: The home cannot be written.
    """
    named = given or os.environ.get("KBS_ORIGIN")
    if named:
        if not is_name(named):
            raise UsageError(
                f"{named!r} is no origin",
                remedy="use letters, digits, dots, dashes and underscores, 64 at most",
            )
        return named
    path = experience_folder(home) / ORIGIN_FILE
    try:
        found = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        found = ""
    except (OSError, UnicodeDecodeError) as problem:
        raise StoreError(
            f"the name of this home cannot be read: {problem}",
            where=str(path),
            remedy="make it readable, or remove it to get a new name",
        ) from problem
    if is_name(found):
        return found
    return _claim_name(path)


def _claim_name(path: Path) -> str:
    """Make a name; of two processes that do so at once, the first one's stays."""
    name = f"kbs-{uuid.uuid4().hex[:12]}"
    draft = path.with_name(f".{ORIGIN_FILE}.{name}")
    write_whole(draft, f"{name}\n")
    try:
        os.link(draft, path)
    except FileExistsError:
        found = path.read_text(encoding="utf-8").strip()
        if is_name(found):
            name = found
        else:
            write_whole(path, f"{name}\n")
    except OSError:  # a file system without hard links: the last of two writers stays
        write_whole(path, f"{name}\n")
    finally:
        draft.unlink(missing_ok=True)
    return name


def host_tag() -> str:
    """Eight letters for this host, so that hosts that share a folder keep to their own files."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def list_segments(folder: Path) -> dict[str, Path]:
    """Every segment below ``folder`` by its relative name, sorted."""
    if not folder.is_dir():
        return {}
    found = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob(f"*{SUFFIX}")
        if path.is_file() and not path.name.startswith(".")
    }
    return dict(sorted(found.items()))
