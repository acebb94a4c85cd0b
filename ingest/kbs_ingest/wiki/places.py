"""Where a citation path lies on this machine, so that a fault can be opened."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kbs_ingest.wiki.source import WikiRoot


def shown_path(cited: str, roots: Iterable[WikiRoot]) -> str:
    """The file of a citation path: relative to the current folder when below it, else absolute."""
    for root in sorted(roots, key=lambda one: one.name, reverse=True):
        if not root.name or cited.startswith(f"{root.name}/"):
            path = root.path / (cited.removeprefix(f"{root.name}/") if root.name else cited)
            here = Path.cwd()
            return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()
    return cited


def shown_place(where: str, roots: Iterable[WikiRoot]) -> str:
    """The same for ``path:line``."""
    path, colon, line = where.rpartition(":")
    if not line.isdigit():
        return shown_path(where, roots) if where else where
    return f"{shown_path(path, roots)}{colon}{line}"
