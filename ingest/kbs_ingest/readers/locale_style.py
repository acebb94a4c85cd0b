"""The number style of a file, or an error that says how to export without doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbs_engine.errors import ReportError
from kbs_ingest.readers.numbers import AmbiguousError, Style, style_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def decide(cells: Iterable[tuple[str, bool]], path: Path) -> Style:
    """Decide the decimal mark of a file from all its cells."""
    try:
        return style_of(cells)
    except AmbiguousError as fault:
        raise ReportError(
            str(fault),
            where=str(path),
            remedy="export again with LC_ALL=C and --print-fp, which prints plain numbers",
        ) from fault
