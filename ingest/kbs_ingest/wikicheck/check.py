"""All checks over whole wikis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kbs_ingest.wiki.markdown import unify_lines
from kbs_ingest.wiki.places import shown_path
from kbs_ingest.wiki.shadows import differences
from kbs_ingest.wiki.source import WikiRoot
from kbs_ingest.wikicheck.collect import READER_ARITHMETIC, collect
from kbs_ingest.wikicheck.conditions import check_conditions
from kbs_ingest.wikicheck.links import check_links
from kbs_ingest.wikicheck.model import CheckReport, Collected, Collector, WikiFault
from kbs_ingest.wikicheck.opcodes import check_opcodes
from kbs_ingest.wikicheck.pages import check_pages
from kbs_ingest.wikicheck.peaks import check_peaks
from kbs_ingest.wikicheck.rows import check_rows
from kbs_ingest.wikicheck.scaffold import HOLE
from kbs_ingest.wikicheck.siblings import check_siblings

_PEAK_CHECKS = frozenset(
    {
        "sparse_as_dense",
        "sibling_value",
        "peak_arithmetic",
        "dense_sparse_ratio",
        "measured_ceiling",
    }
)
_HOLE = re.compile(rf"{HOLE}:\s*(?P<hint>[^\"|`\n]*)")


def check_wiki(paths: Sequence[Path]) -> CheckReport:
    """Check the wikis as one, later ones laid over earlier ones.

    WikiError only when a path is no folder; everything else is a fault with its line.
    """
    wiki = collect(paths)
    out = Collector()
    out.found.extend(wiki.refused)
    compared = check_peaks(wiki, out)
    check_conditions(wiki, out)
    check_siblings(wiki, out)
    check_rows(wiki, out)
    bare = check_pages(wiki, out)
    check_opcodes(wiki, out)
    cited, linked = check_links(wiki, out)
    _check_holes(wiki, out)
    _check_shadows(wiki, out)
    return CheckReport(
        faults=tuple(
            _placed(fault, wiki.roots)
            for fault in sorted(
                _without_echoes(out.found), key=lambda one: (one.file not in wiki.broken, one)
            )
        ),
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


def _check_shadows(wiki: Collected, out: Collector) -> None:
    """Pages that replace another of their id and contradict it; a team may mean to."""
    for one in differences(wiki.merged.shadowed):
        out.add(
            f"{one.page}:{one.line}",
            "shadow",
            f"replaces {one.replaced} and differs from it: {one}",
            "correct it, or cite the source that shows the other value wrong",
            severity="warning",
        )


def _check_holes(wiki: Collected, out: Collector) -> None:
    """What ``kbs wiki new`` left to fill in."""
    for file in wiki.files:
        if HOLE.encode() not in file.data:
            continue
        text = unify_lines(file.data.decode("utf-8", "replace"))
        for number, line in enumerate(text.split("\n"), start=1):
            for hole in _HOLE.finditer(line):
                out.add(
                    f"{file.path}:{number}",
                    "hole",
                    f"left to fill in: {hole['hint'].strip()}",
                    "replace it by what a source states",
                )


def _without_echoes(found: Sequence[WikiFault]) -> list[WikiFault]:
    """A hole explains every other fault of its line; one mistake in a peak is told once."""
    holes = {(fault.file, fault.line) for fault in found if fault.check == "hole"}
    told = {
        (fault.file, fault.message.split(" ", 1)[0])
        for fault in found
        if fault.check in _PEAK_CHECKS and not fault.message.startswith(READER_ARITHMETIC)
    }
    return [
        fault
        for fault in found
        if fault.check == "hole"
        or not (
            (fault.file, fault.line) in holes
            or (fault.file, _echoed(fault)) in told
            or (_echoed(fault) and (fault.file, "unit_count") in told)
        )
    ]


def _echoed(fault: WikiFault) -> str:
    """The metric that the reader's own arithmetic blames, or an empty string."""
    check, _, rest = fault.message.partition(": ")
    return rest.split(" ", 1)[0] if check in READER_ARITHMETIC else ""


def _placed(fault: WikiFault, roots: Sequence[WikiRoot]) -> WikiFault:
    """The fault with the path of its file instead of its citation path."""
    return msgspec.structs.replace(fault, file=shown_path(fault.file, roots))
