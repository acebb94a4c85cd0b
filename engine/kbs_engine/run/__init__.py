"""The run folder: its records, its journal, its files (loop.md, "Run folder")."""

from kbs_engine.run.folder import RunFolder
from kbs_engine.run.journal import Event, Finished, Journal, result_hash
from kbs_engine.run.layout import Layout, VersionLayout

__all__ = [
    "Event",
    "Finished",
    "Journal",
    "Layout",
    "RunFolder",
    "VersionLayout",
    "result_hash",
]
