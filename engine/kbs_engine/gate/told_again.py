"""What the loop wrote of itself, state.json and the memory records, against its journal.

The loop is told its journal again; what it would write by it is compared leaf by leaf with what
stands. What a person may write into a memory record is left alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

import msgspec

from kbs_engine import __version__
from kbs_engine.errors import InputError, StoreError
from kbs_engine.loop.actions import NoteCommit, PutBlob, PutFile, SaveState
from kbs_engine.loop.retelling import OtherLoopError, Retold, began_with, begun, retell
from kbs_engine.run.files import as_json, sha256_of
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.memories import Memory
from kbs_engine.run.memory_record import MemoryRecord
from kbs_engine.run.state import State

BY_PEOPLE: Final = (
    "masked", "quality_gate", "isa_metric_progress", "pitfalls_and_fixes", "open_directions",
    "git_commit_hash", "extra",
)  # fmt: skip
"""Fields of a memory record that others write too: people, the gate, the commit."""
SHOWN: Final = 12
"""More differing leaves of one file are counted, not listed."""
_CLOSE: Final = 1e-6
_ABSENT: Final = object()
_WORDS: Final = 60


class Retelling(msgspec.Struct, frozen=True, kw_only=True):
    """A run told again, or why it cannot be."""

    retold: Retold | None = None
    fault: StoreError | None = None
    """What of the run's own is gone or changed, so that it cannot be told."""
    unchecked: str = ""
    """Why what the loop wrote is not held to the journal; empty where it is."""
    foreign: bool = False
    """Whether this version of the loop cannot go on with the run."""


def tell_again(run: RunFolder) -> Retelling:
    """The run told again. What another version of kbs wrote is told as not checked."""
    if not begun(run):
        return Retelling(unchecked=_unchecked("no loop began this run"))
    began = began_with(run) or "unknown"
    try:
        retold = retell(run)
    except OtherLoopError:
        return Retelling(unchecked=_unchecked(_other(began)), foreign=True)
    except StoreError as problem:
        return Retelling(fault=problem)
    if began != __version__:
        return Retelling(retold=retold, unchecked=_unchecked(_other(began)))
    name = _written_otherwise(run, retold)
    if name:
        return Retelling(retold=retold, unchecked=_unchecked(f"{_other(began)}: see {name}"))
    return Retelling(retold=retold)


def _other(began: str) -> str:
    return f"another version of kbs wrote the run (begun with {began})"


def _unchecked(why: str) -> str:
    return f"{why}; state.json and memory records are not checked against the journal"


def _written_otherwise(run: RunFolder, retold: Retold) -> str:
    """A file that this loop writes otherwise than the one of then; empty for none.

    Compared with the hashes of the journal, so that nothing on disk has a say.
    """
    recorded: dict[str, set[str]] = {}
    for event in run.journal.of_kind("artifact"):
        recorded.setdefault(event.data["path"], set()).add(event.data["sha256"])
    for path, note in retold.wrote.files.items():
        if recorded.get(path, set()).isdisjoint(_hashes(note)):
            return path
    return ""


def _hashes(note: PutFile | PutBlob) -> tuple[str, ...]:
    """Hashes that the file may have been written with: a record that was masked stays so."""
    if isinstance(note, PutBlob):
        return (note.sha256,)
    if not note.path.startswith("memory/"):
        return (sha256_of(note.text),)
    record = msgspec.json.decode(note.text, type=MemoryRecord)
    other = msgspec.structs.replace(record, masked=not record.masked)
    return sha256_of(note.text), sha256_of(as_json(other))


def state_leaves(run: RunFolder, retold: Retold) -> tuple[str, ...]:
    """Every leaf of state.json that the journal does not give; empty where it stands as written.

    A crash may leave it at any of the states that the last step writes.
    """
    told = [retold.wrote.state] if retold.wrote.state is not None else []
    told += [note.state for note in retold.actions if isinstance(note, SaveState)]
    try:
        stands = run.state()
    except InputError as problem:
        return (problem.message,)
    if not told:
        return ()
    return min((tuple(_leaves(plain(one), plain(stands))) for one in told), key=len)


def memory_leaves(run: RunFolder, retold: Retold, number: int) -> tuple[str, ...]:
    """The same of a version's memory record, but for what others may write into it."""
    name = f"memory/v{number}.json"
    done = retold.wrote.files.get(name)
    told = [note for note in (done, *_put(retold, name)) if isinstance(note, PutFile)]
    memory = Memory(run.paths.memory)
    if not told or (done is None and not memory.path(number).exists()):
        return ()
    try:
        record = memory.load(number)
    except InputError as problem:
        return (problem.message,)
    stands = plain(record)
    records = (msgspec.json.decode(note.text, type=MemoryRecord) for note in told)
    found = [tuple(_leaves(_measured(plain(one)), _measured(stands))) for one in records]
    return (*min(found, key=len), *_commit(retold, record), *_gate(run, record))


def memory_versions(retold: Retold) -> tuple[int, ...]:
    """Versions whose memory record the loop wrote, in order."""
    notes = (*retold.wrote.files.values(), *retold.actions)
    paths = {note.path for note in notes if isinstance(note, PutFile)}
    numbers = (p.removeprefix("memory/v").removesuffix(".json") for p in paths if "memory/" in p)
    return tuple(sorted(int(number) for number in numbers))


def told_hashes(retold: Retold, name: str) -> tuple[str, ...]:
    """Hashes that a file may stand with: as it was written last, or as the last step writes it."""
    done = retold.wrote.files.get(name)
    notes = (*((done,) if done else ()), *_put(retold, name))
    return tuple(one for note in notes for one in _hashes(note))


def _put(retold: Retold, name: str) -> tuple[PutFile | PutBlob, ...]:
    """Notes of the last step that write the file."""
    notes = (note for note in retold.actions if isinstance(note, PutFile | PutBlob))
    return tuple(note for note in notes if note.path == name)


def _commit(retold: Retold, record: MemoryRecord) -> Iterator[str]:
    number = record.version
    notes = [note for note in retold.actions if isinstance(note, NoteCommit)]
    told = {retold.wrote.commits.get(number, "")}
    told |= {note.commit for note in notes if note.version == number}
    if record.git_commit_hash not in told:
        yield _differs("git_commit_hash", max(told), record.git_commit_hash)


def _gate(run: RunFolder, record: MemoryRecord) -> Iterator[str]:
    passed = (event.data["version"] for event in run.journal.of_kind("gate_passed"))
    if record.quality_gate.result == "PASS" and record.version not in passed:
        yield "quality_gate.result is PASS; the journal knows no gate that passed"


def _measured(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in BY_PEOPLE}


def plain(record: State | MemoryRecord) -> dict[str, Any]:
    """A record as its file holds it."""
    held: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))
    return held


def _leaves(told: Any, stands: Any, path: str = "") -> Iterator[str]:
    """Every leaf in which two trees differ, in words."""
    if isinstance(told, dict) and isinstance(stands, dict):
        for name in dict.fromkeys((*told, *stands)):
            place = f"{path}.{name}" if path else name
            yield from _leaves(told.get(name, _ABSENT), stands.get(name, _ABSENT), place)
    elif isinstance(told, list) and isinstance(stands, list):
        for index, (one, two) in enumerate(zip_longest(told, stands, fillvalue=_ABSENT)):
            yield from _leaves(one, two, f"{path}[{index}]")
    elif not _same(told, stands):
        yield _differs(path, told, stands)


def _same(told: Any, stands: Any) -> bool:
    if isinstance(told, float) and isinstance(stands, int | float):
        return math.isclose(told, stands, rel_tol=_CLOSE)
    return bool(told == stands) and isinstance(told, bool) is isinstance(stands, bool)


def _differs(path: str, told: Any, stands: Any) -> str:
    return f"{path} is {_word(stands)}; the journal gives {_word(told)}"


def _word(value: Any) -> str:
    if value is _ABSENT:
        return "not there"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _WORDS else f"{text[: _WORDS - 1]}…"
