"""A wiki read whole, with every fault kept instead of the first few."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kbs_engine.errors import WikiError
from kbs_ingest.audit.tables import PageTables, read_tables
from kbs_ingest.wiki.faults import Fault, Faults
from kbs_ingest.wiki.identity import SAYS
from kbs_ingest.wiki.load import read_together
from kbs_ingest.wiki.markdown import parse
from kbs_ingest.wiki.rootreader import RootReader
from kbs_ingest.wiki.source import WikiFile, name_roots, read_files
from kbs_ingest.wikicheck.model import Collected, WikiFault, spec_pages

_BY_MESSAGE = (
    ("has no source", "source_missing"),
    ("does not stand in '## Sources'", "source_key"),
    ("the source has no title", "source_title"),
    (" names ", "duplicate_alias"),
    ("the alias ", "duplicate_alias"),
    (SAYS, "identity"),
)
READER_ARITHMETIC = ("dense_sparse_ratio", "peak_arithmetic", "measured_above_peak")
"""Checks that the reader makes too; its messages begin with their names."""


def collect(paths: Sequence[Path]) -> Collected:
    """Read all roots; WikiError only when a root is no folder."""
    faults = Faults()
    roots = name_roots(paths)
    files = [file for root in roots for file in read_files(root, faults)]
    merged, chips = read_together(files, faults)
    return Collected(
        roots=roots,
        files=tuple(files),
        merged=merged,
        chips=chips,
        tables=_tables(files, merged),
        refused=tuple(_with_check(fault) for fault in faults.found),
        broken=frozenset(faults.broken),
    )


def _tables(files: Sequence[WikiFile], merged: RootReader) -> dict[str, PageTables]:
    wanted = {page.citation.path for page in spec_pages(merged)}
    found = {}
    for file in files:
        if file.path in wanted:
            try:
                found[file.path] = read_tables(parse(file.text(), file.path), file.path)
            except WikiError:  # the reader has told it
                continue
    return found


def _with_check(fault: Fault) -> WikiFault:
    """A fault of the reader under the check that it belongs to."""
    path, _, line = fault.where.rpartition(":")
    in_hardware = "/hardware/" in f"/{path}"
    check = next((name for name in READER_ARITHMETIC if fault.message.startswith(name)), "format")
    for piece, name in _BY_MESSAGE:
        if piece in fault.message and (in_hardware or not name.startswith("dup")):
            check = name
            break
    if check == "measured_above_peak":
        check = "measured_ceiling"
    return WikiFault(
        file=path if line.isdigit() else fault.where,
        line=int(line) if line.isdigit() else 1,
        check=check,
        message=fault.message,
        remedy=fault.remedy,
    )
