"""What the journal names by hash stands in .kbs: answers of jobs and questions, sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kbs_engine.errors import KbsError
from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.gate.told_again import Retelling
from kbs_engine.loop.actions import PutBlob
from kbs_engine.loop.retelling import ANSWER
from kbs_engine.run.folder import RunFolder

_REMEDY = "restore .kbs of this run from a copy; nothing is measured twice"


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse what is gone or changed, once for each folder."""
    if context.broken is None and not context.inspectors.looping:
        yield from missing(context.run, context.retelling)


def missing(run: RunFolder, retelling: Retelling) -> Iterator[Refusal]:
    """Refusals for answers and contents that the journal names and .kbs does not hold."""
    keys = run.journal.finished_jobs()
    found = [
        *_faults(run, "answers of finished jobs", keys, run.finished),
        *_faults(run, "contents that the journal names", _contents(run, retelling), run.blobs.get),
    ]
    yield from found
    if retelling.fault is not None and not found:
        fault = retelling.fault
        where = fault.where.removeprefix(f"{run.root}/")
        yield Refusal(rule="answers", where=where, message=fault.message, remedy=fault.remedy)


def _faults(
    run: RunFolder, what: str, names: Mapping[str, Any], read: Callable[[str], object]
) -> Iterator[Refusal]:
    """One refusal for all that cannot be read, with the first of them."""
    problems = [problem for problem in (_problem(read, name) for name in names) if problem]
    if problems:
        first = problems[0]
        yield Refusal(
            rule="answers",
            where=first.where.removeprefix(f"{run.root}/"),
            message=f"{first.message} ({len(problems)} of {len(names)} {what} are gone or changed)",
            remedy=_REMEDY,
        )


def _problem(read: Callable[[str], object], name: str) -> KbsError | None:
    try:
        read(name)
    except KbsError as problem:
        return problem
    return None


def _contents(run: RunFolder, retelling: Retelling) -> Mapping[str, None]:
    """Hashes of everything in the blob store on which the run rests."""
    names: list[str] = []
    for event in run.journal.events:
        if event.kind == "job_started":
            names += _hashes(event.data["job"])
        elif event.kind == ANSWER and "sha256" in event.data:
            names.append(event.data["sha256"])
    if retelling.retold is not None:
        files = retelling.retold.wrote.files.values()
        names += [note.sha256 for note in files if isinstance(note, PutBlob)]
    return dict.fromkeys(names)


def _hashes(job: Any) -> Iterator[str]:
    """Every hash that a job names: of its sources and its reference."""
    for name, value in job.items() if isinstance(job, dict) else enumerate(job):
        if isinstance(value, dict | list):
            yield from _hashes(value)
        elif isinstance(value, str) and value and str(name).endswith("sha256"):
            yield value


RULE = Rule(
    id="answers",
    title="Answers as they were given",
    refuses="An answer of a finished job or of another question, or a source, that the journal "
    "names by its hash and .kbs does not hold with it.",
    check=check,
)
