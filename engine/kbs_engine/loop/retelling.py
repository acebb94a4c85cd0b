"""A run told again: the answers of its journal to the machine, and what the loop wrote by them.

The machine has no state but its answers, so this is how a killed run goes on, and how what the
loop wrote of itself is known whatever stands on disk by now. Nothing is asked or written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from kbs_engine.errors import StoreError
from kbs_engine.jobs import AnyJob, Result
from kbs_engine.loop.actions import Begin, NoteCommit, PutBlob, PutFile, SaveState
from kbs_engine.loop.asks import AnyAnswer, Ask, JobsDone, RunJobs
from kbs_engine.loop.machine import LoopState, Told, begin_run, step
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.state import State

BEGUN = "loop_begun"
ANSWER = "answer"


class OtherLoopError(StoreError):
    """The journal is of another version of the loop: it answers what this one does not ask."""


class Wrote(msgspec.Struct, kw_only=True):
    """What notes wrote, the last word of each."""

    files: dict[str, PutFile | PutBlob] = msgspec.field(default_factory=dict)
    """By path in the run folder."""
    state: State | None = None
    commits: dict[int, str] = msgspec.field(default_factory=dict)
    """What memory records were told of commits, by version."""

    def take(self, actions: Iterable[Any]) -> None:
        """Notes in the order in which they are done."""
        for note in actions:
            if isinstance(note, PutFile | PutBlob):
                self.files[note.path] = note
            elif isinstance(note, SaveState):
                self.state = note.state
            elif isinstance(note, NoteCommit):
                self.commits[note.version] = note.commit


class Retold(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands after everything in its journal."""

    state: LoopState
    actions: tuple[Any, ...]
    """What is to be done there: notes that a crash may have left undone, and the next ask."""
    wrote: Wrote
    """By the notes of all steps before: those are done."""


def begun(run: RunFolder) -> bool:
    """Whether the run is one of the loop: its journal says how it began."""
    return bool(run.journal.of_kind(BEGUN))


def retell(run: RunFolder) -> Retold:
    """Tell the machine the journal of a run.

    Raises:
        OtherLoopError: The journal was written by another version of the loop.
        StoreError: An answer that the journal names is gone or was changed.
    """
    state, actions = begin_run(_begin(run))
    wrote = Wrote()
    for event in run.journal.of_kind(ANSWER):
        ask = actions[-1] if actions and isinstance(actions[-1], Ask) else None
        if ask is None or ask.key != event.data["key"]:
            raise _other(
                run, "the journal answers another question than the one that is asked",
                event.seq, state.begin,
            )  # fmt: skip
        try:
            answer = _stored(run, ask, event.data)
        except msgspec.DecodeError as problem:
            raise _other(
                run, f"the journal holds an answer of another form ({problem})", event.seq,
                state.begin,
            ) from problem  # fmt: skip
        wrote.take(actions)
        state, actions = step(state, Told(key=ask.key, answer=answer))
    return Retold(state=state, actions=actions, wrote=wrote)


def began_with(run: RunFolder) -> str:
    """The version of kbs that began the run, as the journal holds it."""
    events = run.journal.of_kind(BEGUN)
    return str(events[0].data["begin"].get("kbs_version", "")) if events else ""


def _begin(run: RunFolder) -> Begin:
    events = run.journal.of_kind(BEGUN)
    if not events:
        raise StoreError(
            "the journal does not say how the loop began",
            where=str(run.paths.journal),
            remedy="start the run again with `kbs loop init`",
        )
    try:
        return msgspec.convert(events[0].data["begin"], Begin)
    except msgspec.ValidationError as problem:
        raise OtherLoopError(
            f"the journal tells the beginning of another loop ({problem})",
            where=f"{run.paths.journal}:{events[0].seq + 1}",
            remedy=f"use the version of kbs that began it ({began_with(run) or 'unknown'})",
        ) from problem


def _other(run: RunFolder, message: str, seq: int, begin: Begin) -> OtherLoopError:
    return OtherLoopError(
        message,
        where=f"{run.paths.journal}:{seq + 1}",
        remedy="resume the run with the version of kbs that began it "
        f"({begin.kbs_version or 'unknown'})",
    )


def _stored(run: RunFolder, ask: Ask, data: dict[str, Any]) -> AnyAnswer:
    if isinstance(ask, RunJobs):
        return JobsDone(results=tuple(_finished(run, job) for job in ask.jobs))
    stored: AnyAnswer = msgspec.json.decode(run.blobs.get(data["sha256"]), type=AnyAnswer)
    return stored


def _finished(run: RunFolder, job: AnyJob) -> Result:
    result = run.finished(job)
    if result is None:
        raise StoreError(
            f"the journal says that jobs were done, and one of them never finished "
            f"({job.key[:12]})",
            where=str(run.paths.journal),
            remedy="restore the run folder from a copy",
        )
    return result
