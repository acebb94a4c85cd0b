"""Answers of the knowledge base and the proposer, recorded beside a device's and replayed.

A recording made on real hardware is replayed long after: the wiki has grown and the proposer
learned more. So that a replay takes the very decisions that were taken, `--record` also keeps
what was asked of them and answered, in ``asks.jsonl``; `--device recorded:DIR` reads it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from kbs.looping.driver import Answers
from kbs_engine.blobs import BlobStore
from kbs_engine.decoding import decode_json
from kbs_engine.durable import make_folder, require_writable, told_unwritable
from kbs_engine.errors import InputError, MeasurementError
from kbs_engine.loop import asks
from kbs_engine.run.files import read_bytes

FILE: Final = "asks.jsonl"
KINDS: Final = (asks.Describe, asks.Advise, asks.Propose, asks.Search, asks.JudgeOpcodes)
"""What is recorded: all that rests on the wiki, on experience, on the version of the optimiser
that searches, or on whoever writes kernels."""


class ToldBefore(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ``asks.jsonl``."""

    key: str
    answer: asks.AnyAnswer


def recording_key(ask: asks.Ask) -> str:
    """The key of an ask without what differs between a run and its replay: names and dates."""
    changes: dict[str, Any] = {}
    if isinstance(ask, (asks.Describe, asks.Advise)):
        changes["settings"] = msgspec.structs.replace(
            ask.settings, device="", iterations=0, gpu_seconds=None, notes=""
        )
    if isinstance(ask, asks.Advise):
        changes["as_of"] = ""
    if isinstance(ask, asks.Propose):
        changes["file"] = msgspec.structs.replace(ask.file, run_id="")
    return msgspec.structs.replace(ask, **changes).key


class AskRecorder:
    """Passes asks on and writes down what was answered."""

    def __init__(self, world: Answers, folder: Path, blobs: BlobStore) -> None:
        """``blobs`` hold the sources that answers name."""
        self.world = world
        self.folder = folder
        self.blobs = blobs
        self.stored = BlobStore(folder / "blobs")
        make_folder(folder)
        require_writable(folder)

    def answer(self, ask: Any) -> asks.AnyAnswer | None:
        """The world's answer, on disk before it is used."""
        answer = self.world.answer(ask)
        if answer is not None and isinstance(ask, KINDS) and not _withdrawn(answer):
            if isinstance(answer, asks.Proposed):
                for one in answer.candidates:
                    self.stored.put(self.blobs.get(one.source.sha256))
            line = ToldBefore(key=recording_key(ask), answer=answer)
            with told_unwritable(self.folder / FILE), (self.folder / FILE).open("ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        return answer


def _withdrawn(answer: asks.AnyAnswer) -> bool:
    """Whether orders took the request back: the question may be asked, and answered, again."""
    return isinstance(answer, asks.Proposed) and answer.withdrawn


class AskReplayer:
    """Answers from a recording what it holds, and passes the rest on."""

    def __init__(
        self, world: Answers, folder: Path, blobs: BlobStore, *, submitted: bool = False
    ) -> None:
        """Read the recording; InputError for a damaged line.

        ``submitted``: kernels come from whoever submits, in a replay too.
        """
        self.world = world
        self.submitted = submitted
        self.folder = folder
        self.blobs = blobs
        self.stored = BlobStore(folder / "blobs")
        self.told: dict[str, asks.AnyAnswer] = {}
        for number, line in enumerate(read_bytes(folder / FILE).splitlines(), start=1):
            try:
                row = decode_json(line, ToldBefore)
            except msgspec.DecodeError as problem:
                raise InputError(
                    f"not a recorded answer: {problem}",
                    where=f"{folder / FILE}:{number}",
                    remedy="restore the recording",
                ) from problem
            self.told[row.key] = row.answer

    def answer(self, ask: Any) -> asks.AnyAnswer | None:
        """The recorded answer; MeasurementError where a question was never asked then."""
        if not isinstance(ask, KINDS) or (self.submitted and isinstance(ask, asks.Propose)):
            return self.world.answer(ask)
        found = self.told.get(recording_key(ask))
        if found is None:
            kind = type(ask).__name__
            raise MeasurementError(
                f"no recording of this question ({kind}, v{getattr(ask, 'version', '?')})",
                where=str(self.folder),
                remedy="replay with the settings of the recorded run, or record it again",
            )
        if isinstance(found, asks.Proposed):
            for one in found.candidates:
                self.blobs.put(self.stored.get(one.source.sha256))
        return found


def is_recorded(folder: Path) -> bool:
    """Whether a recording holds answers besides those of the device."""
    return (folder / FILE).is_file()
