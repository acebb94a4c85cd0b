"""What a check finds, and what it looks at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from kbs_ingest.audit.tables import PageTables
from kbs_ingest.wiki.hardware import SpecPage
from kbs_ingest.wiki.model import ChipPage
from kbs_ingest.wiki.rootreader import RootReader
from kbs_ingest.wiki.source import WikiFile, WikiRoot

Severity = Literal["error", "warning"]

CHECKS: dict[str, str] = {
    "format": "the file breaks docs/wiki-format.md",
    "duplicate_alias": "one name stands for two parts, or twice",
    "identity": "folder, vendor, arch, limits and capability do not name one part",
    "source_missing": "a value names no source",
    "source_key": "a source key does not stand in Sources",
    "dense_sparse_ratio": "sparse is not twice dense within 1 %",
    "peak_arithmetic": "peak is not units × operations per clock × clock within 2 %",
    "sparse_as_dense": "a dense row holds the sparse figure",
    "sibling_value": "the value belongs to another form factor",
    "basis_clock": "a peak's clock is none of the page's clock rows",
    "per_die": "the chip is no whole number of dies times the die",
    "memory_words": "the memory type is not the one that other rows name",
    "grade_d_in_specs": "a measured value stands among the documented ones",
    "disagreement_reason": "a value that is not used has no reason, or no source",
    "exception_row": "an exception has no reason, no source, or frees nothing",
    "measured_ceiling": "a measured ceiling exceeds the documented peak",
    "citation": "a citation inside the wiki does not hold",
    "link": "a link inside the wiki leads nowhere",
    "probes": "a signature lacks its positive or negative probe",
    "signature_arch": "a signature speaks of an architecture that the wiki lacks",
    "opcode": "a mnemonic that no list, no isa/ page and no other signature names",
    "signature_link": "method and signature do not name each other",
    "source_title": "a source has no title",
    "code_block": "a language heading has no code",
    "symptom_unaddressed": "no method addresses the symptom",
    "hole": "something is left to fill in",
}
"""Every check with what it finds."""


class WikiFault(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One broken rule, with the line that breaks it."""

    file: str
    line: int
    check: str
    message: str
    remedy: str = ""
    severity: Severity = "error"

    def __str__(self) -> str:
        """One line, as a terminal shows it."""
        mark = "" if self.severity == "error" else "warning: "
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.file}:{self.line}: {mark}[{self.check}] {self.message}{remedy}"


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that one run found."""

    faults: tuple[WikiFault, ...]
    checked: dict[str, int]

    @property
    def clean(self) -> bool:
        """Whether nothing but warnings was found."""
        return all(fault.severity != "error" for fault in self.faults)


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """A wiki as read, faults included, with the tables that only the checks need."""

    roots: tuple[WikiRoot, ...]
    files: tuple[WikiFile, ...]
    merged: RootReader
    chips: Mapping[str, ChipPage]
    tables: Mapping[str, PageTables]
    """By path, for hardware, limits and measured pages."""
    refused: Sequence[WikiFault]
    """What the wiki reader itself refuses."""
    broken: frozenset[str] = frozenset()
    """Citation paths of files that could not be read at all."""

    @property
    def spec_pages(self) -> tuple[SpecPage, ...]:
        """Every page of specs, those too that a later root replaced."""
        return spec_pages(self.merged)


def spec_pages(merged: RootReader) -> tuple[SpecPage, ...]:
    """Every page of specs that was read, those too that a later root replaced."""
    replaced = (old for old, _ in merged.shadowed)
    return (*replaced, *merged.pages.values(), *merged.measured.values())


class Collector:
    """Gathers faults; the first check that blames a line for something keeps it."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: list[WikiFault] = []

    def add(
        self,
        where: str,
        check: str,
        message: str,
        remedy: str = "",
        *,
        severity: Severity = "error",
    ) -> None:
        """Note one fault; ``where`` is ``path:line``."""
        path, _, line = where.rpartition(":")
        if not line.isdigit():
            path, line = where, "1"
        fault = WikiFault(
            file=path,
            line=int(line),
            check=check,
            message=message,
            remedy=remedy,
            severity=severity,
        )
        if fault not in self.found:
            self.found.append(fault)
