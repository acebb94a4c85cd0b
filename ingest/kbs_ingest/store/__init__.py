"""The index in the home folder: generations that ingest builds and readers open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbs_ingest.store.reader import Store, open_store

if TYPE_CHECKING:
    from kbs_ingest.store.ingesting import IngestSummary, ingest

__all__ = ["IngestSummary", "Store", "ingest", "open_store"]


def __getattr__(name: str) -> object:
    """Import what builds an index on first use."""
    if name in ("IngestSummary", "ingest"):
        from kbs_ingest.store import ingesting

        return getattr(ingesting, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
