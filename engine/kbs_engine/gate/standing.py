"""Whether a run still stands as it passed its gates: asked before anything goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kbs_engine.errors import InputError
from kbs_engine.gate.refusal import Refusal
from kbs_engine.gate.rules.unedited import BY_HAND
from kbs_engine.run.files import read_bytes, sha256_of
from kbs_engine.run.folder import RunFolder
from kbs_engine.shell import shell

REWRITTEN: Final = frozenset({*BY_HAND, "request.json"})
"""Files of a passed version that may change still; a crash may fall between file and journal."""


def damage(run: RunFolder) -> tuple[Refusal, ...]:
    """What is broken, gone or changed of the journal and of the versions that passed the gate.

    The version in work is left out: a crash may have cut it short, and it is made again.
    """
    broken = run.journal.verify()
    if broken is not None:
        return (
            Refusal(
                rule="journal_chain",
                where=broken.where,
                message=f"the journal's chain is broken: {broken.message}",
                remedy="restore events.jsonl from the run's git history or a copy",
            ),
        )
    return (*_files(run), *_current(run))


def _passed(run: RunFolder) -> frozenset[int]:
    return frozenset(event.data["version"] for event in run.journal.of_kind("gate_passed"))


def _files(run: RunFolder) -> Iterator[Refusal]:
    """Every recorded file of a passed version stands there with its hash, and so does ref.py."""
    folders = {f"v{number}" for number in _passed(run)}
    for name, sha256 in run.journal.artifacts().items():
        if name.partition("/")[0] not in folders and name != run.relative(run.paths.reference):
            continue
        path = run.root / name
        restore = f"restore it (`git -C {shell(run.root)} checkout -- {shell(name)}`)"
        if not path.is_file():
            yield _unedited(name, "was written in this run and is gone", restore)
        elif path.name not in REWRITTEN and sha256_of(read_bytes(path)) != sha256:
            yield _unedited(name, "was changed after it was written", restore)


def _current(run: RunFolder) -> Iterator[Refusal]:
    """current_iteration.txt names no version before a passed one, and none that is not open."""
    opened = [event.data["version"] for event in run.journal.of_kind("version_opened")]
    if not opened:
        return
    name = run.relative(run.paths.current)
    restore = f"restore it (`git -C {shell(run.root)} checkout -- {shell(name)}`)"
    try:
        current = run.current()
    except InputError as problem:
        yield _order(name, problem.message, restore)
        return
    if current is None:
        yield _order(name, f"is gone, though v{opened[-1]} was opened", restore)
    elif not max(_passed(run), default=0) <= current <= max(opened):
        yield _order(name, f"names v{current}; the gate opened v{opened[-1]}", restore)


def _unedited(where: str, message: str, remedy: str) -> Refusal:
    return Refusal(rule="unedited", where=where, message=message, remedy=remedy)


def _order(where: str, message: str, remedy: str) -> Refusal:
    return Refusal(rule="current_version", where=where, message=message, remedy=remedy)
