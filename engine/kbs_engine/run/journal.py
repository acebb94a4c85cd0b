"""events.jsonl: an append-only journal whose every line holds the hash of the line before.

An event counts once its line is synced to disk. A line cut short by a crash is the only thing
that is ever healed; anything else that does not fit the chain is reported with its place.
The head of the chain is also kept outside the run (the home folder), so that cutting the tail
off, or writing the whole chain anew, shows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timezone
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.durable import sync_folder, told_unwritable, write_whole
from kbs_engine.errors import StoreError
from kbs_engine.inputs import read_regular
from kbs_engine.jobs import AnyJob, Job, Result
from kbs_engine.run.events import GENESIS, Break, Event, Finished, Head, decoded, result_hash
from kbs_engine.run.heads import find_head

_FINISHED = frozenset({"job_key", "job_kind", "result_sha256", "failed", "gpu_time_s"})


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


class Journal:
    """The journal of one run. Reading never writes; ``open_for_writing`` heals a torn tail."""

    def __init__(
        self, path: Path, *, head_file: Path | None = None, now: Callable[[], str] = _now
    ) -> None:
        """Keep the path; ``head_file`` is where the home folder remembers the head."""
        self.path = path
        self.head_file = head_file
        self._now = now
        self._events: list[Event] = []
        self._finished: dict[str, Finished] = {}
        self._artifacts: dict[str, str] = {}
        self._writing = False
        self.healed = ""
        """What was cut off when the journal was opened for writing; empty for nothing."""
        self._load()

    def open_for_writing(self) -> Journal:
        """Heal a torn last line and allow ``append``. The caller holds the run's lock.

        Raises:
            StoreError: The chain is broken elsewhere; nothing is appended to such a journal.
        """
        self._heal()
        broken = self.verify()
        if broken is not None:
            raise StoreError(
                broken.message,
                where=broken.where,
                remedy="restore the run folder from its git history or a copy; "
                "a run whose journal was changed proves nothing",
            )
        self._writing = True
        return self

    def append(self, kind: str, **data: Any) -> Event:
        """Add one event and sync it; StoreError when it cannot be written."""
        if not self._writing:
            raise StoreError(
                "the journal is open for reading", where=str(self.path), remedy="open the run"
            )
        plain = msgspec.to_builtins(data)
        event = Event(seq=len(self._events), at=self._now(), kind=kind, data=plain, prev=self.head)
        event = msgspec.structs.replace(event, hash=event.digest())
        self._write_line(msgspec.json.encode(event) + b"\n")
        self._events.append(event)
        self._index(event)
        self._remember()
        return event

    def job_started(self, job: Job) -> Event:
        """Record that ``job`` is in flight."""
        return self.append("job_started", job_key=job.key, job=msgspec.to_builtins(job))

    def job_finished(self, result: Result, *, kind: str) -> Event:
        """Record an answer that is on disk already."""
        return self.append(
            "job_finished",
            job_key=result.job_key,
            job_kind=kind,
            result_sha256=result_hash(result),
            failed=result.failure is not None,
            gpu_time_s=result.device_seconds,
        )

    @property
    def events(self) -> tuple[Event, ...]:
        """All events, in order."""
        return tuple(self._events)

    @property
    def head(self) -> str:
        """Hash of the last event."""
        return self._events[-1].hash if self._events else GENESIS

    def of_kind(self, kind: str) -> tuple[Event, ...]:
        """The events of one kind, in order."""
        return tuple(event for event in self._events if event.kind == kind)

    def finished_jobs(self) -> dict[str, Finished]:
        """Every finished job by its key; the last answer counts."""
        return dict(self._finished)

    def jobs(self) -> dict[str, AnyJob]:
        """Every job that was ever started, by its key."""
        return {
            event.data["job_key"]: msgspec.convert(event.data["job"], AnyJob)
            for event in self.of_kind("job_started")
        }

    def in_flight(self) -> tuple[str, ...]:
        """Keys of jobs that were started and never finished: they are run again."""
        finished = self.finished_jobs()
        keys = (event.data["job_key"] for event in self.of_kind("job_started"))
        return tuple(dict.fromkeys(key for key in keys if key not in finished))

    def artifacts(self) -> dict[str, str]:
        """The last recorded hash of every artifact, by its path in the run folder."""
        return dict(self._artifacts)

    def finished_job(self, job_key: str) -> Finished | None:
        """One finished job, or None."""
        return self._finished.get(job_key)

    def artifact(self, path: str) -> str | None:
        """The last recorded hash of one artifact, or None."""
        return self._artifacts.get(path)

    def verify(self) -> Break | None:
        """The first place where the chain does not hold, or None."""
        broken = self._verify_lines()
        return broken if broken is not None else self._verify_head()

    def _verify_lines(self) -> Break | None:
        previous = GENESIS
        for number, line in enumerate(self._lines(), start=1):
            where = f"{self.path}:{number}"
            try:
                event = decode_json(line, Event)
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                return Break(where=where, message=f"line is no event of a journal ({problem})")
            if event.seq != number - 1:
                return Break(
                    where=where,
                    message=f"event {event.seq} stands where {number - 1} should: "
                    "events were removed, added or moved",
                )
            if event.prev != previous:
                return Break(where=where, message="does not follow the event before it")
            if event.digest() != event.hash:
                return Break(where=where, message=f"event {event.seq} was changed after the fact")
            previous = event.hash
        return None

    def _verify_head(self) -> Break | None:
        head = self.remembered()
        if head is None:
            return None
        where = f"{self.path}:{len(self._events) or 1}"
        if not self._events:
            return Break(
                where=str(self.path),
                message=f"is gone or empty, but {head.seq + 1} events were written",
            )
        if head.seq >= len(self._events):
            return Break(
                where=where,
                message=f"ends at event {len(self._events) - 1}, but event {head.seq} was written: "
                "its tail was cut off",
            )
        if self._events[head.seq].hash != head.hash:
            return Break(
                where=f"{self.path}:{head.seq + 1}",
                message="is another chain than the one whose head the home folder keeps",
            )
        return None

    def remembered(self) -> Head | None:
        """The head as the home folder keeps it; None where it does not know this run."""
        return find_head(self.head_file, self._events[0].hash if self._events else "")

    def _load(self) -> None:
        """Take what decodes, up to the first line that does not."""
        events = map(decoded, self._lines())
        self._events = [event for event in takewhile(lambda e: e is not None, events) if event]
        for event in self._events:
            self._index(event)

    def _index(self, event: Event) -> None:
        """Keep what is looked up at every step of a long run.

        An event that lacks what it should say was changed: ``verify`` tells where.
        """
        data = event.data
        if event.kind == "artifact" and {"path", "sha256"} <= data.keys():
            self._artifacts[data["path"]] = data["sha256"]
        elif event.kind == "job_finished" and data.keys() >= _FINISHED:
            self._finished[data["job_key"]] = Finished(
                job_key=data["job_key"],
                kind=data["job_kind"],
                result_sha256=data["result_sha256"],
                seq=event.seq,
                failed=data["failed"],
                gpu_time_s=data["gpu_time_s"],
            )

    def _lines(self) -> list[bytes]:
        """Whole lines; a torn last one is not among them."""
        return self._content().split(b"\n")[:-1]

    def _content(self) -> bytes:
        """All bytes; none where there is no journal yet."""
        try:
            return read_regular(self.path) if self.path.exists() else b""
        except OSError as problem:
            raise StoreError(
                f"cannot be read: {problem.strerror or problem}",
                where=str(self.path),
                remedy="restore events.jsonl from the run's git history or a copy",
            ) from problem

    def _heal(self) -> None:
        """Cut a last line that has no end: its event never counted."""
        data = self._content()
        whole = data.rfind(b"\n") + 1
        if whole == len(data):
            return
        self.healed = f"{len(data) - whole} bytes of an event that was being written"
        with told_unwritable(self.path), self.path.open("r+b") as file:
            file.truncate(whole)
            file.flush()
            os.fsync(file.fileno())

    def _write_line(self, line: bytes) -> None:
        remedy = "free space or fix the folder's permissions, then resume the run"
        with told_unwritable(self.path, remedy):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = not self.path.exists()
            with self.path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            if new:
                sync_folder(self.path.parent)

    def _remember(self) -> None:
        if self.head_file is not None:
            last = self._events[-1]
            first = self._events[0].hash
            head = Head(seq=last.seq, hash=last.hash, path=str(self.path.resolve()), first=first)
            write_whole(self.head_file, msgspec.json.encode(head))
