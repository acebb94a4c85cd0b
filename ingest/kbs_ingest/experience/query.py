"""Reading through a whole log: rows for lists and searches, counts for statistics.

Segments are read from end to end, so that no index is needed and a log of any length fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from kbs_engine.experience.records import CANONICAL, Mask, Record, Unmask
from kbs_engine.outcomes import Outcome
from kbs_ingest.experience.lines import BadLine, raw_lines, read_bytes, read_record
from kbs_ingest.experience.lore import Lore
from kbs_ingest.experience.places import experience_folder, list_segments
from kbs_ingest.experience.survey import judging, marks_of
from kbs_ingest.experience.view import ON_HOST, Mark, Scan, Seen, hidden_by

State = Literal["counts", "masked", "quarantined", "host"]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One outcome of the log and whether it counts."""

    id: str
    origin: str
    state: State
    why: str
    file: str
    line: int
    outcome: Outcome


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which outcomes; what is None or empty does not choose."""

    method: str | None = None
    kernel: str | None = None
    language: str | None = None
    chip: str | None = None
    arch: str | None = None
    limiter: str | None = None
    verdict: str | None = None
    origin: str | None = None
    run: str | None = None
    since: str | None = None
    words: tuple[str, ...] = ()
    states: tuple[State, ...] = ()

    def takes(self, row: Row) -> bool:
        """Whether ``row`` is wanted."""
        outcome = row.outcome
        for name in ("method", "kernel", "language", "chip", "arch", "limiter", "verdict", "run"):
            value = getattr(self, name)
            if value is not None and getattr(outcome, name) != value:
                return False
        if self.origin is not None and row.origin != self.origin:
            return False
        if self.since is not None and outcome.date < self.since:
            return False
        if self.states and row.state not in self.states:
            return False
        return not self.words or self._says(row)

    def _says(self, row: Row) -> bool:
        outcome = row.outcome
        text = " ".join(
            (
                row.id, row.origin, outcome.method.replace("_", " "), outcome.method,
                outcome.words, outcome.notes, outcome.kernel, outcome.language, outcome.chip,
                outcome.arch, outcome.limiter, outcome.verdict, outcome.dominant_stall,
                outcome.dtype or "", outcome.run, outcome.dims_class,
            )
        ).casefold()  # fmt: skip
        return all(word.casefold() in text for word in self.words)


class Reading:
    """One reading of the log of a home; ``bad`` and ``marks`` are whole when it is through."""

    def __init__(self, home: Path, lore: Lore) -> None:
        """Read masks and library baselines; outcomes follow with ``rows``."""
        self._folder = experience_folder(home)
        self._scan = Scan(self._folder, lore)
        marks = marks_of(self._folder, lore)
        self._scan.libraries = judging(self._folder, lore, marks)
        self._hidden = hidden_by(marks)
        self._masks = _reasons(marks)

    def rows(self, wanted: Wanted | None = None) -> Iterator[Row]:
        """Outcomes that are wanted, in the order of the segments."""
        for seen in self._scan.outcomes():
            row = self._row(seen)
            if wanted is None or wanted.takes(row):
                yield row

    @property
    def bad(self) -> list[BadLine]:
        """Lines that are no records."""
        return self._scan.bad

    @property
    def marks(self) -> dict[str, Mark]:
        """Masks, unmasks and replications by id."""
        return self._scan.marks

    def _row(self, seen: Seen) -> Row:
        state: State = "counts"
        why = self._scan.doubt_again(seen)
        if seen.id in self._hidden:
            state, why = "masked", self._masks.get(seen.id, "")
        elif why == ON_HOST:
            state = "host"
        elif why:
            state = "quarantined"
        return Row(
            id=seen.id,
            origin=seen.origin,
            state=state,
            why=why,
            file=f"experience/{seen.segment}",
            line=seen.found.number,
            outcome=seen.outcome,
        )


def _reasons(marks: Mapping[str, Mark]) -> dict[str, str]:
    """The reason of a mask by each id that it hides."""
    return {
        target: mask.reason for _, mask in sorted(_active(marks).items()) for target in mask.targets
    }


def find_record(home: Path, prefix: str) -> list[tuple[str, Record]]:
    """Every record whose id begins with ``prefix``."""
    found: dict[str, Record] = {}
    for path in list_segments(experience_folder(home)).values():
        for _, _, line in raw_lines(read_bytes(path)):
            match = CANONICAL.match(line)
            if match is not None and not match[1].startswith(prefix.encode()):
                continue
            try:
                entry = read_record(line)
            except (ValueError, RecursionError):
                continue  # a bad line has no id
            if entry.id.startswith(prefix):
                found[entry.id] = entry.record
    return sorted(found.items())


def active_masks(home: Path) -> dict[str, Mask]:
    """Masks that no unmask cancels, by id."""
    return _active(marks_of(experience_folder(home), Lore()))


def _active(marks: Mapping[str, Mark]) -> dict[str, Mask]:
    cancelled = {
        name
        for mark in marks.values()
        if isinstance(mark.record, Unmask)
        for name in mark.record.masks
    }
    return {
        id_: mark.record
        for id_, mark in marks.items()
        if isinstance(mark.record, Mask) and id_ not in cancelled
    }


def outcomes_of_run(home: Path, lore: Lore, run: str) -> list[str]:
    """Ids of the counting outcomes of a run in which a method helped."""
    wanted = Wanted(run=run, verdict="effective")
    return sorted(row.id for row in Reading(home, lore).rows(wanted) if row.state != "masked")
