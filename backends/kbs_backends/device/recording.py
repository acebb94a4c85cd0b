"""The lines of a recording, chained by hashes: an edit, a swap or a missing line shows.

A line is ``{"job", "result", "chain"}``. ``chain`` is SHA-256 over the link before, the bytes of
the job and those of the result. A line without it (recordings of earlier versions) has the same
hash as its link, so that a chain may be carried on behind it. A chain shows changes; it is no
signature, and does not show that whole lines were taken away from the end.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from pathlib import Path
from typing import BinaryIO

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.durable import told_unwritable
from kbs_engine.errors import InputError
from kbs_engine.inputs import read_regular
from kbs_engine.jobs import AnyJob, Job, Result

JOBS = "jobs.jsonl"


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ``jobs.jsonl``."""

    job: AnyJob
    result: Result
    chain: str = ""
    """Hash of this line and all before; empty in recordings of earlier versions."""


class _Raw(msgspec.Struct, frozen=True, kw_only=True):
    """A line whose parts stay the bytes that they are."""

    job: msgspec.Raw
    result: msgspec.Raw
    chain: str = ""


class Writer:
    """Adds lines to a recording; others may add to it too."""

    def __init__(self, folder: Path) -> None:
        """Nothing is read before the first line."""
        self._path = folder / JOBS
        self._size = 0
        self._link = ""

    def append(self, job: Job, result: Result) -> None:
        """Add one line, flushed to the disk; one that a crash cut short is taken away first.

        Raises:
            InputError: What is there already is damaged or was changed.
        """
        line = _Raw(
            job=msgspec.Raw(msgspec.json.encode(job)),
            result=msgspec.Raw(msgspec.json.encode(result)),
        )
        with told_unwritable(self._path), self._path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if file.seek(0, os.SEEK_END) != self._size:
                self._catch_up(file)
            link = _link(self._link, line)
            file.write(msgspec.json.encode(msgspec.structs.replace(line, chain=link)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._size, self._link = file.tell(), link

    def _catch_up(self, file: BinaryIO) -> None:
        """Read what others, or an earlier session, have written."""
        file.seek(0)
        data = file.read()
        whole = data.rfind(b"\n") + 1
        self._link = _last_link(data[:whole], self._path)
        if whole < len(data):
            file.truncate(whole)
            file.seek(0, os.SEEK_END)


def read_recording(folder: Path) -> list[Recording]:
    """All lines of a recording; a last line cut short by a crash is left out.

    Raises:
        InputError: No recording is there, a line in the middle is damaged, or the chain does
            not hold.
    """
    path = folder / JOBS
    try:
        data = read_regular(path)
    except OSError as problem:
        raise InputError(
            f"no recording: {problem.strerror or problem}", where=str(path),
            remedy="name a folder that a recorder wrote (it holds jobs.jsonl)",
        ) from problem  # fmt: skip
    lines = data.split(b"\n")
    out, link, chained = [], "", False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = decode_json(line, Recording)
        except (msgspec.MsgspecError, UnicodeDecodeError, ValueError) as problem:
            if number == len(lines):
                break
            raise InputError(
                f"not a recorded job: {problem}", where=f"{path}:{number}",
                remedy="restore the file, or remove the line",
            ) from problem  # fmt: skip
        link = _link(link, decode_json(line, _Raw))
        chained = chained or bool(found.chain)
        if chained and found.chain != link:
            raise _broken(path, number)
        out.append(found)
    return out


def _last_link(data: bytes, path: Path) -> str:
    """The link of what is there, for the line to come."""
    link, chained = "", False
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            raw = decode_json(line, _Raw)
        except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
            raise InputError(
                f"not a recorded job: {problem}", where=f"{path}:{number}",
                remedy="record into another folder, or restore the file",
            ) from problem  # fmt: skip
        link = _link(link, raw)
        chained = chained or bool(raw.chain)
        if chained and raw.chain != link:
            raise _broken(path, number)
    return link


def _link(before: str, line: _Raw) -> str:
    parts = (before.encode(), bytes(line.job), bytes(line.result))
    return hashlib.sha256(b"\n".join(parts)).hexdigest()


def _broken(path: Path, number: int) -> InputError:
    return InputError(
        "the recording was changed after it was recorded: the chain of hashes does not hold "
        "from here on", where=f"{path}:{number}",
        remedy="restore the file as it was recorded, or record it again",
    )  # fmt: skip
