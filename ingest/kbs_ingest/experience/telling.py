"""What a merge quarantines because of what the whole log then holds.

A baseline that one file states may take out a record of another file, or one that was here
before, and a record may be taken out on arrival by what was here: all of it is told.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kbs_engine.chance import machine_of
from kbs_engine.experience.libraries import Libraries, reached_ns
from kbs_engine.experience.quarantine import beyond_library
from kbs_engine.experience.records import CANONICAL
from kbs_engine.outcomes import Outcome
from kbs_ingest.experience.lines import BadLine
from kbs_ingest.experience.lore import Lore, Task, task_of
from kbs_ingest.experience.places import experience_folder
from kbs_ingest.experience.survey import believed, within
from kbs_ingest.experience.view import Mark, hidden_by

if TYPE_CHECKING:
    from kbs_ingest.experience.parsing import Parsed
_NONE: Final = 0.0
"""In a column in place of a time that is not told; no time is 0."""


class Claim(NamedTuple):
    """What one record says of its task."""

    row: int
    task: Task
    machine: str
    library_ns: float | None
    reached_ns: float | None
    after_ns: float | None


class Claims:
    """The claims of a file in columns: a million of them travel between processes."""

    def __init__(self) -> None:
        """Nothing claimed yet."""
        self.tasks: dict[Task, int] = {}
        self._machines: dict[str, int] = {}
        self._whole = array("q")
        self._times = array("d")

    def add(self, index: int, outcome: Outcome) -> None:
        """What an outcome that is believed by itself says; without dims it says nothing."""
        reached = reached_ns(outcome)
        if not outcome.dims or (outcome.baseline_ns is None and reached is None):
            return
        task = self.tasks.setdefault(task_of(outcome), len(self.tasks))
        machine = self._machines.setdefault(machine_of(outcome), len(self._machines))
        self._whole.extend((index, task, machine))
        self._times.extend(
            (outcome.baseline_ns or _NONE, reached or _NONE, outcome.after_ns or _NONE)
        )

    def __iter__(self) -> Iterator[Claim]:
        """In the order of the file."""
        tasks, machines = list(self.tasks), list(self._machines)
        whole = (self._whole[place::3] for place in range(3))
        times = (self._times[place::3] for place in range(3))
        for row, task, machine, library, reached, after in zip(*whole, *times, strict=True):
            yield Claim(
                int(row), tasks[int(task)], machines[int(machine)],
                library or None, reached or None, after or None,
            )  # fmt: skip


class Held(NamedTuple):
    """A claim of a record that was here and is in no source."""

    id: str
    place: tuple[str, int]
    claim: Claim


def taken_out(
    home: Path,
    lore: Lore,
    every: Sequence[Parsed],
    fresh: Collection[bytes],
    marks: Mapping[str, Mark],
) -> Iterator[BadLine]:
    """Records of the sources, and records that counted until now, that baselines take out.

    Args:
        home: the home folder, the sources merged.
        lore: names and bounds from the wiki.
        every: what was read of the sources.
        fresh: ids, as bytes, of the records that this merge added.
        marks: masks, unmasks and replications of the log as it now is.
    """
    folder = experience_folder(home)
    older = {id_: mark for id_, mark in marks.items() if bytes.fromhex(id_) not in fresh}
    dims = {task[3] for parsed in every for task in parsed.claims.tasks}
    held = list(_held(folder, lore, every, None if len(older) < len(marks) else dims))
    hidden, once_hidden = hidden_by(marks), hidden_by(older)
    now = _judging(every, held, hidden)
    if not now:
        return
    yield from _of_sources(every, hidden, now)
    before = _judging(every, held, once_hidden, without=fresh)
    for id_, (file, line), claim in held:
        why = "" if id_ in hidden else _why(claim, now)
        if why and (id_ in once_hidden or not _why(claim, before)):
            yield BadLine(file=file, line=line, reason=why)


def _held(
    folder: Path, lore: Lore, every: Sequence[Parsed], dims: Collection[str] | None
) -> Iterator[Held]:
    """Claims of what is in no source, of tasks with such dims; None for all tasks."""
    known = {parsed.key(index) for parsed in every for index in range(len(parsed.origins))}

    def wanted(line: bytes) -> bool:
        match = CANONICAL.match(line)
        if match is not None and bytes.fromhex(match[1].decode()) in known:
            return False
        return dims is None or within(line, dims)

    for seen in believed(folder, lore, wanted):
        claims = Claims()
        claims.add(0, seen.outcome)
        for claim in claims:
            yield Held(seen.id, (f"experience/{seen.segment}", seen.found.number), claim)


def _judging(
    every: Sequence[Parsed],
    held: Sequence[Held],
    hidden: Collection[str],
    without: Collection[bytes] = (),
) -> dict[Task, float]:
    """The baselines that judge, of all records that are neither hidden nor ``without``."""
    libraries: Libraries[Task] = Libraries()
    for parsed in every:
        for claim in parsed.claims:
            if without or hidden:
                key = parsed.key(claim.row)
                if key in without or key.hex() in hidden:
                    continue
            libraries.add(claim.task, claim.machine, claim.library_ns, claim.reached_ns)
    for id_, _, claim in held:
        if id_ not in hidden:
            libraries.add(claim.task, claim.machine, claim.library_ns, claim.reached_ns)
    return libraries.judging()


def _of_sources(
    every: Sequence[Parsed], hidden: Collection[str], libraries: Mapping[Task, float]
) -> Iterator[BadLine]:
    for parsed in every:
        for claim in parsed.claims:
            why = _why(claim, libraries)
            if why and parsed.key(claim.row).hex() not in hidden:
                yield parsed.fault(claim.row, why)


def _why(claim: Claim, libraries: Mapping[Task, float]) -> str:
    if claim.after_ns is None or claim.library_ns is not None or claim.task not in libraries:
        return ""
    return beyond_library(claim.after_ns, libraries[claim.task]) or ""
