"""The wiki's files as engine records, each with the line that states it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbs_ingest.wiki.model import Chunk, Wiki

if TYPE_CHECKING:
    from kbs_ingest.wiki.load import list_wiki, load_files, load_wiki

__all__ = ["Chunk", "Wiki", "list_wiki", "load_files", "load_wiki"]


def __getattr__(name: str) -> object:
    """Import what reads pages on first use: asking an index needs none of it."""
    if name in __all__:
        from kbs_ingest.wiki import load

        return getattr(load, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
