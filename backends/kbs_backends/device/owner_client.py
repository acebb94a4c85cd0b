"""The caller's handle on the owner process: start, ask, and start anew after a crash."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import msgspec

from kbs_backends.device.context_settings import Settings
from kbs_backends.device.environ import child_environment
from kbs_backends.device.patience import STUCK
from kbs_backends.device.requests import Idle, Quiet, Reply, Request
from kbs_backends.device.wire import Channel, ClosedError, SilenceError, WireError
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Result


class Owner:
    """One owner process; a dead one is replaced by the next request."""

    def __init__(self, settings: Settings) -> None:
        """Nothing is started yet."""
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None

    @property
    def pid(self) -> int:
        """Process id; 0 when there is none."""
        return self._process.pid if self._process else 0

    def ask(self, request: Request) -> Result:
        """Send a job and wait for its result.

        Raises:
            MeasurementError: The owner died; the next request starts a new one.
        """
        result = self._answer(self._started(), request)
        if result is None:
            raise MeasurementError("no result of a job", remedy="this is a bug: please report it")
        return result

    def expect_many(self) -> None:
        """A loop's jobs will come. An owner that runs already learns it from the jobs alone."""
        self._settings = msgspec.structs.replace(self._settings, many=True)

    def quiet(self) -> None:
        """Wait until it has no process that is opening the device; MeasurementError as ``ask``."""
        self._tell(Quiet())

    def idle(self) -> None:
        """Nothing measures: it may open the device ahead of a job; MeasurementError as ``ask``."""
        self._tell(Idle())

    def _tell(self, word: Quiet | Idle) -> None:
        """Say it to an owner that runs."""
        if self._channel is not None and self._process is not None and self._process.poll() is None:
            self._answer(self._channel, Request(job=word))

    def _answer(self, channel: Channel, request: Request) -> Result | None:
        try:
            channel.send(request)
            reply: Reply = channel.receive(Reply)
        except (ClosedError, WireError, SilenceError) as problem:
            code = self._end()
            if code == STUCK:
                raise MeasurementError(
                    "the reference or its setup did not come to an end within "
                    f"{self._settings.limits.reference_s:g} s",
                    remedy="see what reference() and setup() wait for, or use smaller dims",
                ) from problem
            raise MeasurementError(
                f"the measuring process ended ({_how(code)})",
                remedy="submit the job again: a new one is started; look at the kernel log when "
                "it happens twice",
            ) from problem
        return reply.result

    def close(self) -> None:
        """End the owner and all that it started."""
        self._end()

    def abandon(self) -> None:
        """From another thread: the owner ends amid its job, and ``ask`` tells so."""
        channel = self._channel
        if channel is not None:
            with contextlib.suppress(OSError):  # it has ended already
                channel.socket.shutdown(socket.SHUT_RDWR)

    def _started(self) -> Channel:
        if self._channel is not None and self._process is not None and self._process.poll() is None:
            return self._channel
        self._end()
        ours, theirs = socket.socketpair()
        log = self._log()
        self._process = subprocess.Popen(
            (sys.executable, "-m", "kbs_backends.device.owner", str(theirs.fileno())),
            pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=log, cwd=self._settings.workdir, start_new_session=True,
            env=child_environment(OMP_NUM_THREADS="1"),
        )  # fmt: skip
        theirs.close()
        os.close(log)
        self._channel = Channel(ours)
        self._channel.send(self._settings)
        return self._channel

    def _log(self) -> int:
        """The owner's stderr goes to a file: reference code may print without end."""
        path = Path(self._settings.workdir) / "owner.log"
        return os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)

    def _end(self) -> int | None:
        """End it; its exit status, None where it was not running."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is None:
            return None
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._process = None
        return code


def _how(code: int | None) -> str:
    if code is None:
        return "it was not running"
    return f"by signal {-code}" if code < 0 else f"exit status {code}"
