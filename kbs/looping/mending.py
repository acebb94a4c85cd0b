"""What the loop writes again from its journal before it goes on, each file told."""

from __future__ import annotations

import contextlib
from typing import Any

import msgspec

from kbs.looping.writing import Writer
from kbs_engine.errors import InputError
from kbs_engine.gate import Standing
from kbs_engine.gate.told_again import BY_PEOPLE, plain
from kbs_engine.loop.actions import PutFile
from kbs_engine.loop.ledger import Ledger
from kbs_engine.loop.retelling import Retold
from kbs_engine.run import RunFolder
from kbs_engine.run.memories import Memory
from kbs_engine.run.memory_record import MemoryRecord


def mend(run: RunFolder, found: Standing) -> tuple[str, ...]:
    """Write again what is untrue or gone of the loop's own files; a line for each.

    The run is open for writing and nothing else of it is damaged.
    """
    retold = found.retold
    if retold is None:
        return ()
    state = run.relative(run.paths.state)
    gone = [] if run.paths.state.is_file() else [state]
    names = dict.fromkeys([*gone, *(row.where for row in found.untrue)])
    for name in names:
        if name == state:
            run.save_state(retold.wrote.state or Ledger(retold.state.begin).state)
        else:
            _memory(run, retold, name)
    write = Writer(run)
    for note in found.gone:
        write(note)
    return (
        *(f"{name}: {_why(name in gone)}; written again" for name in names),
        *(f"{note.path}: was gone; written again" for note in found.gone),
    )


def _why(gone: bool) -> str:
    return "was gone" if gone else "did not say what the journal gives"


def _memory(run: RunFolder, retold: Retold, name: str) -> None:
    """The record as the loop wrote it, with what others wrote into it since."""
    note = retold.wrote.files.get(name)
    if not isinstance(note, PutFile):
        return  # the next step writes it
    record = msgspec.json.decode(note.text, type=MemoryRecord)
    number = record.version
    passed = any(row.data["version"] == number for row in run.journal.of_kind("gate_passed"))
    stood: dict[str, Any] = {}  # where it cannot be read, what others wrote into it is lost
    with contextlib.suppress(InputError):
        stood = plain(Memory(run.paths.memory).load(number))
    kept: dict[str, Any] = {
        **{one: stood[one] for one in BY_PEOPLE if one in stood},
        "quality_gate": {"result": "PASS" if passed else "not run", "failure_reason": ""},
        "git_commit_hash": retold.wrote.commits.get(number, ""),
    }
    Memory(run.paths.memory).replace(msgspec.convert({**plain(record), **kept}, MemoryRecord))
