"""Recording what a device answered, and replaying it where there is no such device.

A recording is a folder: ``jobs.jsonl`` with one job and its result per line, appended as
jobs end and chained by hashes (``recording``), and ``blobs/`` with the contents that results
name. A job is found by its key. What was not recorded is an error, never a made-up value.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kbs_backends.device.recording import JOBS, Writer, read_recording
from kbs_engine.blobs import BlobStore
from kbs_engine.durable import make_folder, require_writable
from kbs_engine.jobs import Job, Result
from kbs_engine.ports import Device

if TYPE_CHECKING:
    from typing_extensions import Self

_CUT = ", whose last line is cut off"
BLOBS = "blobs"


class RecordedDevice:
    """Replays a recording; its provenance stays that of the machine that was recorded."""

    def __init__(self, folder: Path, blobs: BlobStore | None = None) -> None:
        """Read the recording; contents that its results name are copied into ``blobs``.

        Raises:
            InputError: No recording, a damaged line that is not the last, or one that was
                changed after it was recorded.
        """
        self.folder = folder
        self.blobs = blobs or BlobStore(folder / BLOBS)
        lines = read_recording(folder)
        self._results = {line.result.job_key: line.result for line in lines}
        self.chained = all(line.chain for line in lines)
        """Whether an edited line would have shown; recordings of earlier versions have no chain."""
        self._stored = BlobStore(folder / BLOBS)
        data = (folder / JOBS).read_bytes()
        self._cut = bool(data) and not data.endswith(b"\n")

    @property
    def devices(self) -> frozenset[str]:
        """Kinds of device that were recorded: ``host`` is no GPU."""
        return frozenset(found.provenance.device for found in self._results.values())

    def __len__(self) -> int:
        """Jobs that can be replayed."""
        return len(self._results)

    def submit(self, job: Job) -> Future[Result]:
        """A future that is done: the recorded result, or a failure that names the job."""
        future: Future[Result] = Future()
        kind = str(job.__struct_config__.tag)
        found = self._results.get(job.key)
        if found is None:
            future.set_result(Result(
                job_key=job.key, kind=kind,
                failure=f"no recording of this {kind} job ({_named(job)}, key {job.key[:12]}) in "
                f"{self.folder}{_CUT * self._cut}; record it on the machine, or ask for what was "
                "recorded",
            ))  # fmt: skip
            return future
        for sha256 in named_blobs(found):
            if sha256 in self._stored and sha256 not in self.blobs:
                self.blobs.put(self._stored.get(sha256))
        future.set_result(found)
        return future

    def close(self) -> None:
        """Nothing to end."""

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""


class Recorder:
    """Passes jobs on to a device and writes down what it answered."""

    def __init__(self, device: Device, folder: Path, blobs: BlobStore) -> None:
        """``blobs`` is the store of the device, from which named contents are copied."""
        self._device = device
        self._writer = Writer(folder)
        self._blobs = blobs
        self._stored = BlobStore(folder / BLOBS)
        self._lock = threading.Lock()
        make_folder(folder)
        require_writable(folder)

    def submit(self, job: Job) -> Future[Result]:
        """Submit; the line is written before the future is seen to be done."""
        outer: Future[Result] = Future()
        outer.set_running_or_notify_cancel()

        def ended(inner: Future[Result]) -> None:
            problem = inner.exception()
            if problem is not None:
                outer.set_exception(problem)
                return
            try:
                self._write(job, inner.result())
            except Exception as failure:  # noqa: BLE001 - handed to whoever waits
                outer.set_exception(failure)
                return
            outer.set_result(inner.result())

        self._device.submit(job).add_done_callback(ended)
        return outer

    def close(self) -> None:
        """Close the device where it can be closed."""
        close: Callable[[], None] | None = getattr(self._device, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Leave the device as it was entered."""
        leave: Callable[..., None] | None = getattr(self._device, "__exit__", None)
        if leave is not None:
            leave(*problem)

    def _write(self, job: Job, result: Result) -> None:
        for sha256 in (*named_blobs(result), *named_blobs(job)):
            if sha256 in self._blobs:
                self._stored.put(self._blobs.get(sha256))
        with self._lock:
            self._writer.append(job, result)


def named_blobs(record: Any) -> tuple[str, ...]:
    """Every ``…sha256`` that a record names, at any depth, in order."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for name, one in value.items():
                if str(name).endswith("sha256") and isinstance(one, str) and one:
                    found.append(one)
                else:
                    walk(one)
        elif isinstance(value, (list, tuple)):
            for one in value:
                walk(one)

    walk(msgspec.to_builtins(record))
    return tuple(dict.fromkeys(found))


def _named(job: Job) -> str:
    source = getattr(job, "source", None)
    if source is not None:
        return str(source.name)
    arms = getattr(job, "arms", ())
    return ", ".join(str(arm.name) for arm in arms) if arms else type(job).__name__
