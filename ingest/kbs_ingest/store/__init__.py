"""The index in the home folder: generations that ingest builds and readers open."""

from kbs_ingest.store.ingest import IngestSummary, ingest
from kbs_ingest.store.reader import Store, open_store

__all__ = ["IngestSummary", "Store", "ingest", "open_store"]
