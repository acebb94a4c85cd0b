"""The owner's handle on the zygote: start it, have it fork and reap, start it anew."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kbs_backends.device.gpus import by_bus
from kbs_backends.device.messages import (
    FromZygote,
    Limits,
    Reaped,
    ReapWorker,
    Started,
    StartWorker,
)
from kbs_backends.device.wire import Channel, ClosedError, SilenceError, WireError, pair
from kbs_engine.errors import MeasurementError

START_S = 120.0
"""A cold disk reads torch for a minute."""
ANSWER_S = 60.0


class Forked(msgspec.Struct, frozen=True, kw_only=True):
    """A worker as the owner holds it; the channel and the pidfd are the owner's to close."""

    pid: int
    pidfd: int
    folder: Path


class Zygote:
    """One zygote process; a dead one is replaced when the next worker is asked for."""

    def __init__(self, workdir: Path, kind: str, hidden: Sequence[Path] = ()) -> None:
        """A zygote that is not started yet.

        Args:
            workdir: Holds the private folders of workers; they may not read the rest of it.
            kind: ``cuda`` or ``host``.
            hidden: What else they may not read.
        """
        self._workdir = workdir
        self._hidden = tuple(str(folder.resolve()) for folder in (workdir, *hidden))
        self._kind = kind
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._greeted = False

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Process id; 0 when there is none."""
        return self._process.pid if self._process else 0

    def fork(self, limits: Limits, *, trusted: bool, sandbox: bool) -> tuple[Forked, Channel]:
        """A fresh worker and the channel to it.

        Raises:
            MeasurementError: The zygote died; the next call starts a new one.
        """
        if not self.alive:
            self.start()
        folder = Path(tempfile.mkdtemp(prefix="worker-", dir=self._workdir))
        ours, theirs = pair(limit_bytes=1 << 20)
        out = os.open(folder.with_suffix(".out"), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        err = os.open(folder.with_suffix(".err"), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        message = StartWorker(
            folder=str(folder), limits=limits, trusted=trusted, sandbox=sandbox,
            hidden=self._hidden,
        )  # fmt: skip
        try:
            answer = self._ask(message, (theirs.fileno(), out, err))
        finally:
            theirs.close()
            os.close(out)
            os.close(err)
        if not isinstance(answer, Started):
            raise MeasurementError("the zygote answered out of turn", remedy="submit the job again")
        return Forked(pid=answer.pid, pidfd=_pidfd(answer.pid), folder=folder), ours

    def reap(self, forked: Forked) -> Reaped:
        """End a worker; a dead zygote has taken its workers along."""
        try:
            answer = self._ask(ReapWorker(pid=forked.pid))
        except MeasurementError:
            return Reaped(pid=forked.pid, status=-9, orphans=0)
        if not isinstance(answer, Reaped):
            raise MeasurementError("the zygote answered out of turn", remedy="submit the job again")
        return answer

    def close(self) -> None:
        """End the zygote and with it all workers."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def start(self) -> None:
        """Start a new one; it imports while the owner imports, the first fork waits for it."""
        self.close()
        ours, theirs = socket.socketpair()
        environment = {
            **by_bus(os.environ), "KBS_DEVICE_KIND": self._kind, "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        }  # fmt: skip
        if self._kind == "host":
            environment["TRITON_INTERPRET"] = "1"
        else:
            environment.pop("TRITON_INTERPRET", None)
        self._process = subprocess.Popen(
            (sys.executable, "-m", "kbs_backends.device.zygote", str(theirs.fileno())),
            pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            cwd=self._workdir, env=environment, start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self._channel = Channel(ours)
        self._greeted = False

    def _greeted_channel(self) -> Channel:
        """The channel once the zygote has imported everything."""
        if self._channel is None:
            raise ClosedError("no zygote")
        if not self._greeted:
            self._channel.receive(FromZygote, START_S)
            self._greeted = True
        return self._channel

    def _ask(self, message: StartWorker | ReapWorker, fds: tuple[int, ...] = ()) -> FromZygote:
        try:
            channel = self._greeted_channel()
            channel.send(message, fds)
            answer: FromZygote = channel.receive(FromZygote, ANSWER_S)
        except (ClosedError, SilenceError, WireError) as problem:
            self.close()
            raise MeasurementError(
                f"the process that starts candidates ended ({problem})",
                remedy="submit the job again: a new one is started",
            ) from problem
        return answer


def _pidfd(pid: int) -> int:
    """A descriptor that tells when the process ends; −1 where the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def remove_folder(folder: Path) -> None:
    """Remove a worker's folder and its captured output."""
    shutil.rmtree(folder, ignore_errors=True)
    for suffix in (".out", ".err"):
        with contextlib.suppress(OSError):
            folder.with_suffix(suffix).unlink()
