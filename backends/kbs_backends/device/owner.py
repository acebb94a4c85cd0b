"""The owner process: it alone holds references, seeds, expected values and statistics.

It imports torch and runs the user's reference; code of candidates runs in workers only.
Run as ``python -m kbs_backends.device.owner FD``; FD is the caller's socket.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import re
import select
import shutil
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from kbs_backends.device import kernel_calls
from kbs_backends.device.accelerators import OwnerSide, owner_side
from kbs_backends.device.context import Bench
from kbs_backends.device.context_settings import Settings
from kbs_backends.device.patience import STUCK, Patience
from kbs_backends.device.requests import Idle, Quiet, Reply, Request
from kbs_backends.device.wire import Channel, ClosedError, SilenceError
from kbs_backends.device.zygote_client import Zygote
from kbs_engine.errors import KbsError
from kbs_engine.jobs import Check, Count, Failure, Job, Probe, Provenance, Result, Time

GRACE_S = 1.5
"""How long an owner whose caller is gone may take to end by itself."""
NEXT_S = 0.3
"""How long a loop takes from an answer to its next job, with some to spare."""


def main(arguments: list[str]) -> None:
    """Serve one caller until it is gone."""
    channel = Channel(socket.socket(fileno=int(arguments[0])))
    with contextlib.suppress(OSError):  # candidates have no right to look anyway
        kernel_calls.prctl(kernel_calls.PR_SET_DUMPABLE, 0)
    settings: Settings = channel.receive(Settings)
    zygote = Zygote(Path(settings.workdir), settings.kind, [Path(settings.blobs)])
    zygote.start()
    leave = threading.Thread(target=_leave_with_caller, args=(channel, settings, zygote))
    leave.daemon = True
    leave.start()
    patience = Patience(settings.limits.reference_s, lambda: _leave_stuck(zygote))
    owner = _Owner(settings, zygote, patience)
    gone = False
    try:
        request: Request | None = None
        while True:
            request = request or channel.receive(Request)
            channel.send(owner.answer(request))
            request = owner.between(channel)
    except ClosedError:
        gone = True
    finally:
        owner.close()
    if gone:
        _tidy(settings)


def _leave_with_caller(channel: Channel, settings: Settings, zygote: Zygote) -> None:
    """End at once when the caller is gone, whatever a candidate is doing just now."""
    gone = select.poll()
    gone.register(channel, select.POLLRDHUP)
    gone.poll()
    time.sleep(GRACE_S)  # an owner that waits for work ends by itself
    zygote.close()
    _tidy(settings)
    os._exit(0)


def _leave_stuck(zygote: Zygote) -> None:
    """End at once: the reference does not."""
    zygote.close()
    os._exit(STUCK)


def _tidy(settings: Settings) -> None:
    """Remove the folder that a caller who was killed could not remove."""
    if settings.temporary:
        shutil.rmtree(settings.workdir, ignore_errors=True)


class _Owner:
    """Answers one request at a time; the device is opened by the first one."""

    def __init__(self, settings: Settings, zygote: Zygote, patience: Patience) -> None:
        self._settings = settings
        self._zygote = zygote
        self._patience = patience
        self._bench: Bench | None = None
        self._idle = False
        """Whether processes may open the device now."""

    def answer(self, request: Request) -> Reply:
        """Whatever happens, one reply."""
        job = request.job
        self._idle = request.fill and not isinstance(job, Quiet)
        if isinstance(job, (Quiet, Idle)):
            if self._bench is not None and isinstance(job, Quiet):
                self._bench.quiet()
            return Reply(result=None)
        try:
            bench = self._opened()
            if not isinstance(job, Probe):
                _import_what_tasks_need()
            if isinstance(job, (Check, Time)):
                bench.ready.judged()
            with self._patience.job():
                value = _run(bench, job, request.artifacts)
            return Reply(result=Result(
                job_key=job.key, kind=_kind(job), value=msgspec.to_builtins(value),
                provenance=bench.side.provenance(),
            ))  # fmt: skip
        except KbsError as problem:
            return _failed(job, _at_home(problem, self._settings.workdir), "")
        except Exception as problem:  # noqa: BLE001 - the boundary to the user's reference
            return _failed(job, _said(problem), traceback.format_exc()[-8000:])

    def between(self, channel: Channel) -> Request | None:
        """Tidy up after a job; while no other waits, processes for the next open the device.

        Not after a word that a tool is to measure: it would have to wait for them. The request
        that came meanwhile.
        """
        bench = self._bench
        if bench is None:
            return None
        _import_what_tasks_need()
        try:
            bench.bury()
        except KbsError as problem:  # the answer is out; the next job meets the same and tells
            sys.stderr.write(f"{problem}\n")
        wait_s: float | None = NEXT_S if self._idle else None
        while wait_s is not None:
            with contextlib.suppress(SilenceError):
                coming: Request = channel.receive(Request, wait_s)
                return coming
            wait_s = bench.ready.add()
        return None

    def close(self) -> None:
        """End the zygote, and with it every worker."""
        if self._bench is not None:
            self._bench.close()
        self._zygote.close()
        if self._bench is not None:
            self._bench.side.close()

    def _opened(self) -> Bench:
        if self._bench is None:
            side: OwnerSide = owner_side(self._settings.kind, self._settings.gpu)
            self._bench = Bench(self._settings, side, self._zygote, self._patience.step)
        return self._bench


def _import_what_tasks_need() -> None:
    """Seconds in a fresh process: done while the caller looks at its tools, where there is time."""
    for name in ("sympy", "torch.utils.flop_counter", "kbs_backends.tasks"):
        if importlib.util.find_spec(name.partition(".")[0]) is not None:
            importlib.import_module(name)


def _run(bench: Bench, job: Job, artifacts: Mapping[str, str]) -> Any:
    if isinstance(job, Probe):
        return bench.side.machine()
    if isinstance(job, Count):
        return bench.load(job.task).reference.work(job.task.permitted)
    if isinstance(job, Check):
        from kbs_backends.device.checking import check

        return check(bench, job, artifacts)
    if isinstance(job, Time):
        from kbs_backends.device.racing import race

        return race(bench, job, artifacts)
    raise KbsError(f"the owner runs no {_kind(job)} job", remedy="this is a bug: please report it")


def _kind(job: Job) -> str:
    return str(job.__struct_config__.tag)


def _said(problem: Exception) -> KbsError:
    text = str(problem) or type(problem).__name__
    if type(problem).__name__ == "OutOfMemoryError":
        return KbsError(
            f"the reference does not fit into the device's memory ({text})",
            remedy="use smaller dims",
        )
    return KbsError(
        f"the reference or the harness failed: {type(problem).__name__}: {text}",
        remedy="run the reference alone, and report this if it works there",
    )


def _at_home(problem: KbsError, workdir: str) -> KbsError:
    """Our copies of the user's files called by their names: ``ref.py:3``."""
    copies = re.compile(rf"{re.escape(workdir)}/task-\d+/(?:setup/)?")
    plain = (copies.sub("", part) for part in (problem.message, problem.where, problem.remedy))
    message, where, remedy = plain
    return KbsError(message, where=where, remedy=remedy)


def _failed(job: Job, problem: KbsError, stderr: str) -> Reply:
    result = Result(
        job_key=job.key, kind=_kind(job), failure=str(problem),
        failed=Failure(message=problem.message, where=problem.where, remedy=problem.remedy),
        stderr=stderr, provenance=Provenance(),
    )  # fmt: skip
    return Reply(result=result)


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if entry not in ("", str(Path.cwd()))]
    main(sys.argv[1:])
