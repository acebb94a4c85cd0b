"""The run folder: its records, its journal, its files (loop.md, "Run folder")."""

from kbs_engine.run.events import Event, Finished, result_hash
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.journal import Journal
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
