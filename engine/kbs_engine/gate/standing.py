"""Whether a run still stands as it passed its gates: asked before anything goes on with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from kbs_engine.gate.refusal import Refusal
from kbs_engine.gate.restoring import BY_HAND, restoring
from kbs_engine.gate.rules.answers import missing
from kbs_engine.gate.rules.current_version import misnamed
from kbs_engine.gate.rules.journal_chain import JOURNAL
from kbs_engine.gate.rules.retold import differing
from kbs_engine.gate.told_again import Retelling, tell_again, told_hashes
from kbs_engine.loop.actions import PutBlob, PutFile
from kbs_engine.loop.retelling import Retold
from kbs_engine.run.files import read_bytes, sha256_of
from kbs_engine.run.folder import RunFolder
from kbs_engine.run.layout import VERSION

REWRITTEN: Final = frozenset({*BY_HAND, "request.json"})
"""Files of a passed version that may change still; a crash may fall between file and journal."""
UNSEEN: Final = "this home folder never saw the run: its journal's end is not checked"


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How a run stands."""

    damage: tuple[Refusal, ...] = ()
    """What is broken, gone or changed, and nothing goes on before it is mended."""
    untrue: tuple[Refusal, ...] = ()
    """What state.json and memory records say against the journal: the loop writes them again."""
    gone: tuple[PutFile | PutBlob, ...] = ()
    """Files of versions in work that are not there any more, as they are written again."""
    unchecked: tuple[str, ...] = ()
    """What could not be checked, in words."""
    foreign: bool = False
    """Whether only another version of kbs can go on with the run."""
    retold: Retold | None = None
    """The run told again from its journal; None where it cannot be."""


def damage(run: RunFolder) -> tuple[Refusal, ...]:
    """What is broken, gone, changed or untrue of a run."""
    found = standing(run)
    return (*found.damage, *found.untrue)


def standing(run: RunFolder) -> Standing:
    """How a run stands: what the journal holds by hash, and what it gives when it is told again.

    Of the version in work nothing is amiss that a crash may have left; what was changed is.
    """
    broken = run.journal.verify()
    if broken is not None:
        told = Refusal(
            rule="journal_chain",
            where=broken.where,
            message=f"the journal's chain is broken: {broken.message}",
            remedy=JOURNAL,
        )
        return Standing(damage=(told,))
    again = tell_again(run)
    retold = again.retold
    in_work = () if retold is None or again.unchecked else tuple(_in_work(run, retold))
    changed = (
        _unedited(
            note.path, "was changed after it was written",
            restoring(run, note.path, told_hashes(retold, note.path)[0], again=True),
        )
        for note in in_work if retold is not None and (run.root / note.path).exists()
    )  # fmt: skip
    return Standing(
        damage=(*missing(run, again), *_files(run), *misnamed(run), *changed),
        untrue=tuple(differing(run, again)),
        gone=tuple(note for note in in_work if not (run.root / note.path).exists()),
        unchecked=unchecked(run, again),
        foreign=again.foreign,
        retold=retold,
    )


def unchecked(run: RunFolder, again: Retelling | None = None) -> tuple[str, ...]:
    """What nothing on this machine can check of a run whose chain holds, in words."""
    again = again or tell_again(run)
    seen = run.journal.remembered() is not None
    return tuple(told for told in ("" if seen else UNSEEN, again.unchecked) if told)


def _passed(run: RunFolder) -> frozenset[int]:
    return frozenset(event.data["version"] for event in run.journal.of_kind("gate_passed"))


def _in_work(run: RunFolder, retold: Retold) -> Iterator[PutFile | PutBlob]:
    """Files that finished steps wrote of versions before their gate and that are not as told."""
    passed = {f"v{number}" for number in _passed(run)}
    for name, note in retold.wrote.files.items():
        folder, path = name.partition("/")[0], run.root / name
        if folder in passed or not VERSION.match(folder):
            continue
        if not path.is_file() or (
            path.name not in REWRITTEN
            and sha256_of(read_bytes(path)) not in told_hashes(retold, name)
        ):
            yield note


def _files(run: RunFolder) -> Iterator[Refusal]:
    """Every recorded file of a passed version stands there with its hash, and so does ref.py."""
    folders = {f"v{number}" for number in _passed(run)}
    for name, sha256 in run.journal.artifacts().items():
        if name.partition("/")[0] not in folders and name != run.relative(run.paths.reference):
            continue
        path = run.root / name
        kept = None if path.name in REWRITTEN else sha256
        if not path.is_file():
            yield _unedited(name, "was written in this run and is gone", restoring(run, name, kept))
        elif kept is not None and sha256_of(read_bytes(path)) != kept:
            yield _unedited(name, "was changed after it was written", restoring(run, name, kept))


def _unedited(where: str, message: str, remedy: str) -> Refusal:
    return Refusal(rule="unedited", where=where, message=message, remedy=remedy)
