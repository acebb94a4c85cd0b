"""All checks over whole wikis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kbs_ingest.wikicheck.collect import collect
from kbs_ingest.wikicheck.links import check_links
from kbs_ingest.wikicheck.model import CheckReport, Collected, Collector, WikiFault
from kbs_ingest.wikicheck.pages import check_pages
from kbs_ingest.wikicheck.peaks import check_peaks
from kbs_ingest.wikicheck.rows import check_rows
from kbs_ingest.wikicheck.scaffold import HOLE

_HOLE = re.compile(rf"{HOLE}:\s*(?P<hint>[^\"|`\n]*)")


def check_wiki(paths: Sequence[Path]) -> CheckReport:
    """Check the wikis as one, later ones laid over earlier ones.

    WikiError only when a path is no folder; everything else is a fault with its line.
    """
    wiki = collect(paths)
    out = Collector()
    out.found.extend(wiki.refused)
    compared = check_peaks(wiki, out)
    check_rows(wiki, out)
    bare = check_pages(wiki, out)
    cited, linked = check_links(wiki, out)
    _check_holes(wiki, out)
    return CheckReport(
        faults=tuple(sorted(_without_echoes(out.found))),
        checked={
            "files": len(wiki.files),
            "chips": len(wiki.chips),
            "specs": sum(len(page.specs) for page in wiki.merged.pages.values()),
            "peaks_by_arithmetic": compared,
            "methods": len(wiki.merged.methods),
            "headings_without_code": bare,
            "symptoms": len(wiki.merged.rules),
            "signatures": len(wiki.merged.signatures),
            "cases": len(wiki.merged.cases),
            "citations": cited,
            "links": linked,
        },
    )


def _check_holes(wiki: Collected, out: Collector) -> None:
    """What ``kbs wiki new`` left to fill in."""
    for file in wiki.files:
        if HOLE.encode() not in file.data:
            continue
        text = file.data.decode("utf-8", "replace")
        for number, line in enumerate(text.split("\n"), start=1):
            for hole in _HOLE.finditer(line):
                out.add(
                    f"{file.path}:{number}",
                    "hole",
                    f"left to fill in: {hole['hint'].strip()}",
                    "replace it by what a source states",
                )


def _without_echoes(found: Sequence[WikiFault]) -> list[WikiFault]:
    """A hole explains every other fault of its line."""
    holes = {(fault.file, fault.line) for fault in found if fault.check == "hole"}
    return [
        fault
        for fault in found
        if fault.check == "hole" or (fault.file, fault.line) not in holes
    ]
