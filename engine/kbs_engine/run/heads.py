"""Heads of journals in the home folder: the run's own, or that of a run that was moved."""

from __future__ import annotations

from pathlib import Path

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import StoreError
from kbs_engine.run.events import Head
from kbs_engine.run.files import sha256_of

PATTERN = "*.head.json"


def read_head(path: Path) -> Head:
    """One remembered head; StoreError when it cannot be read."""
    try:
        return decode_json(path.read_bytes(), Head)
    except (msgspec.DecodeError, OSError) as problem:
        raise StoreError(
            f"the remembered head of a journal cannot be read ({problem})",
            where=str(path),
            remedy="remove the file if this home folder never saw the run",
        ) from problem


def find_head(head_file: Path | None, first: str) -> Head | None:
    """The head of the journal that begins with the event of hash ``first``; None for unknown.

    Heads are kept by the run's place. A run that was moved is known by its first event, once
    nothing stands any more where it was; a copy beside the run is another matter, and unknown.
    """
    if head_file is None:
        return None
    if head_file.exists():
        return read_head(head_file)
    if not first or not head_file.parent.is_dir():
        return None
    heads = (read_head(path) for path in sorted(head_file.parent.glob(PATTERN)))
    moved = [head for head in heads if head.first == first and not Path(head.path).parent.exists()]
    return max(moved, key=lambda head: head.seq, default=None)


def head_file(root: Path, home: Path | None) -> Path | None:
    """Where the home folder keeps the head of a run's journal: by the run's place."""
    if home is None:
        return None
    return home / "runs" / f"{root.name}-{sha256_of(str(root.resolve()))[:16]}.head.json"
