"""Unpacking recordings of our own, on every Python that is supported."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path) -> None:
    """Into ``folder``; with the filter for data where tarfile has it (since 3.10.12, 3.11.4)."""
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(folder, filter="data")
        else:
            packed.extractall(folder)
