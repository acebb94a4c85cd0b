"""Keeps recordings of whole runs: ``python -m tests.loop.store_gpu OUT/NAME…``.

Of what ``record_gpu`` left, ``recorded_gpu/NAME.txz`` holds jobs, asks, blobs and the card.
"""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path

from tests.unpacking import unpack

STORED = Path(__file__).parent / "recorded_gpu"
PARTS = ("jobs.jsonl", "asks.jsonl", "blobs", "card.json")


def keep(folder: Path) -> None:
    """One recording."""
    STORED.mkdir(exist_ok=True)
    with tarfile.open(STORED / f"{folder.name}.txz", "w:xz") as archive:
        for part in PARTS:
            archive.add(folder / part, arcname=part)


def unpacked(name: str, folder: Path) -> Path:
    """A recording as a folder that ``--device recorded:DIR`` reads."""
    unpack(STORED / f"{name}.txz", folder)
    return folder


def names() -> list[str]:
    """Runs that are kept."""
    return sorted(path.stem for path in STORED.glob("*.txz"))


def card(folder: Path) -> dict[str, object]:
    """On what, when and how long."""
    told: dict[str, object] = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    return told


if __name__ == "__main__":
    for given in sys.argv[1:]:
        keep(Path(given))
