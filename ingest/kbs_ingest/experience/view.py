"""The log as answers see it: outcomes under the wiki's names, each with why it may not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from kbs_engine.chance import machine_of
from kbs_engine.errors import InputError
from kbs_engine.experience.legacy import outcome_of
from kbs_engine.experience.libraries import Libraries, reached_ns
from kbs_engine.experience.merging import hidden
from kbs_engine.experience.records import Entry, Legacy, Mask, Replication, Unmask
from kbs_engine.experience.replications import votes
from kbs_engine.outcomes import Outcome, with_gain
from kbs_ingest.experience.lines import BadLine, Found, parse_lines, read_record
from kbs_ingest.experience.lore import Lore, Task, task_of
from kbs_ingest.experience.places import list_segments
from kbs_ingest.readers.text import as_utf8

ON_HOST = "measured on a host: no claim about a GPU"


class Seen(NamedTuple):
    """One outcome of the log."""

    id: str
    origin: str
    segment: str
    found: Found
    outcome: Outcome
    """Under the wiki's names."""
    doubt: str
    """Why it is quarantined or counts for nothing; empty when it counts."""


class Mark(NamedTuple):
    """A record about other records."""

    id: str
    origin: str
    segment: str
    line: int
    record: Mask | Unmask | Replication


class Scan:
    """One reading of a folder of segments; ``bad`` and ``marks`` fill while it is read."""

    def __init__(self, folder: Path, lore: Lore, *, sizes: Mapping[str, int] | None = None) -> None:
        """Keep what to read.

        Args:
            folder: ``experience`` of a home.
            lore: names and bounds from the wiki.
            sizes: segments to read, each to this size; all of each by default.
        """
        self.folder = folder
        self.lore = lore
        self.bad: list[BadLine] = []
        self.marks: dict[str, Mark] = {}
        self.libraries: dict[Task, float] = {}
        """Baselines that judge the records of others, once they are known: see ``Libraries``."""
        self.duplicates = 0
        self._sizes = sizes
        self._seen: set[bytes] = set()

    def outcomes(self) -> Iterator[Seen]:
        """Every outcome once, doubted by itself alone; masks are known when it is through.

        A record that stands in several segments is the one of the smallest origin.
        """
        for name, path in list_segments(self.folder).items():
            if self._sizes is not None and name not in self._sizes:
                continue
            data = _read(path, self._sizes[name] if self._sizes is not None else None)
            for found in parse_lines(data, f"experience/{name}"):
                if isinstance(found, BadLine):
                    self.bad.append(found)
                    continue
                seen = self._take(found, name)
                if seen is not None:
                    yield seen

    def take(self, number: int, start: int, line: bytes, segment: str) -> Seen | None:
        """One line; ValueError when it is no record. None when it is no new outcome."""
        return self._take(Found(number, start, len(line), read_record(line)), segment)

    def _take(self, found: Found, segment: str) -> Seen | None:
        entry = found.entry
        key = bytes.fromhex(entry.id)
        if key in self._seen:
            self.duplicates += 1
            return None
        self._seen.add(key)
        record = entry.record
        if isinstance(record, (Mask, Unmask, Replication)):
            self.marks[entry.id] = Mark(entry.id, entry.origin, segment, found.number, record)
            return None
        outcome = self.lore.resolve(plain_outcome(entry))
        why = ON_HOST if outcome.device == "host" else self.lore.doubt(outcome, {})
        return Seen(entry.id, entry.origin, segment, found, outcome, why or "")

    def hidden(self) -> frozenset[str]:
        """Ids that masks hide, among all marks read."""
        return hidden_by(self.marks)

    def doubt_again(self, seen: Seen) -> str:
        """The doubt of an outcome once the baselines that judge it are known."""
        if seen.doubt or seen.outcome.after_ns is None:
            return seen.doubt
        return self.lore.doubt(seen.outcome, self.libraries) or ""


def _read(path: Path, size: int | None) -> bytes:
    try:
        with path.open("rb") as file:
            return as_utf8(file.read() if size is None else file.read(size))
    except OSError as problem:
        raise InputError(
            f"a segment cannot be read: {problem.strerror or problem}",
            where=str(path),
            remedy="make it readable, or move it out of the experience folder",
        ) from problem


def plain_outcome(entry: Entry) -> Outcome:
    """The outcome of an entry, with its origin and the gain that its times tell."""
    record = entry.record
    outcome = outcome_of(record) if isinstance(record, Legacy) else record
    if not isinstance(outcome, Outcome):
        msg = f"{type(outcome).__name__} is no outcome"
        raise TypeError(msg)
    outcome = with_gain(outcome)
    if not entry.origin or outcome.machine:
        return outcome
    return msgspec.structs.replace(outcome, origin=entry.origin)


def tell(libraries: Libraries[Task], outcome: Outcome) -> None:
    """Add what an outcome that counts says of its task; without dims it says of none."""
    if outcome.dims:
        libraries.add(
            task_of(outcome), machine_of(outcome), outcome.baseline_ns, reached_ns(outcome)
        )


def hidden_by(marks: Mapping[str, Mark]) -> frozenset[str]:
    """Ids that the masks among ``marks`` hide and no unmask cancels."""
    masks = {id_: mark.record for id_, mark in marks.items() if isinstance(mark.record, Mask)}
    unmasks = [mark.record for mark in marks.values() if isinstance(mark.record, Unmask)]
    return hidden(masks, unmasks)


def votes_of(
    marks: Mapping[str, Mark], outcomes: Mapping[str, Outcome], gone: frozenset[str]
) -> dict[str, tuple[Mark, Outcome]]:
    """What the replications that no mask hides say of ``outcomes``."""
    found: dict[str, tuple[Mark, Outcome]] = {}
    for id_, mark in sorted(marks.items()):
        if isinstance(mark.record, Replication) and id_ not in gone:
            for vote, outcome in votes(id_, mark.record, outcomes).items():
                found[vote] = (mark, outcome)
    return found


def targets_of(marks: Mapping[str, Mark]) -> frozenset[str]:
    """Ids of the outcomes that replications speak of."""
    return frozenset(
        target
        for mark in marks.values()
        if isinstance(mark.record, Replication)
        for target in mark.record.targets
    )
