"""What stands in a journal: events, the remembered head, finished jobs, a broken place."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.jobs import Result

GENESIS: Final = "0" * 64
"""What stands in the first event for the hash of the one before."""


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of the journal."""

    seq: int
    at: str
    """ISO 8601, UTC. Told, never compared."""
    kind: str
    data: dict[str, Any]
    prev: str
    hash: str = ""

    def digest(self) -> str:
        """SHA-256 of everything but the hash itself, keys in order."""
        body = {"seq": self.seq, "at": self.at, "kind": self.kind, "data": self.data,
                "prev": self.prev}  # fmt: skip
        return hashlib.sha256(msgspec.json.encode(body, order="deterministic")).hexdigest()


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a chain as the home folder remembers it."""

    seq: int
    hash: str
    path: str = ""
    first: str = ""
    """Hash of the journal's first event: by it a run that was moved is known again."""


class Break(msgspec.Struct, frozen=True, kw_only=True):
    """Where a chain breaks, and how."""

    where: str
    """``path:line``."""
    message: str


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A job whose answer is on disk."""

    job_key: str
    kind: str
    result_sha256: str
    seq: int
    failed: bool = False
    gpu_time_s: float | None = None


def result_hash(result: Result) -> str:
    """SHA-256 of an answer, whatever order its keys stand in."""
    return hashlib.sha256(msgspec.json.encode(result, order="deterministic")).hexdigest()


def decoded(line: bytes) -> Event | None:
    """The event of a line; None for a line that is none (``verify`` tells what it is)."""
    try:
        return decode_json(line, Event)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
