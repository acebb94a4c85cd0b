"""The zygote: imports torch and triton once, then forks one worker per candidate.

It holds no secret, no CUDA context, and runs no tensor operation, so that a fork of it is
clean. It also takes in processes that a worker left behind, and kills them.

Run as ``python -m kbs_backends.device.zygote FD``; FD is the owner's socket.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from kbs_backends.device import kernel_calls, proc
from kbs_backends.device.messages import Reaped, Started, StartWorker, ToZygote
from kbs_backends.device.wire import Channel, ClosedError


def main(arguments: list[str]) -> None:
    """Serve until the owner is gone."""
    channel = Channel(socket.socket(fileno=int(arguments[0])))
    with contextlib.suppress(OSError):  # told by the census: strays are then found by nobody
        kernel_calls.prctl(kernel_calls.PR_SET_CHILD_SUBREAPER, 1)
    _preload()
    channel.send(Started(pid=os.getpid()))
    workers: set[int] = set()
    try:
        while True:
            message = channel.receive(ToZygote)
            if isinstance(message, StartWorker):
                pid = _fork(channel, message)
                workers.add(pid)
                channel.send(Started(pid=pid))
            else:
                workers.discard(message.pid)
                channel.send(_reap(message.pid, workers))
    except ClosedError:
        for pid in list(workers):
            workers.discard(pid)
            _reap(pid, workers)


def _preload() -> None:
    """What every candidate imports. Nothing may be computed: threads do not survive a fork."""
    import importlib
    import importlib.util

    for name in ("torch", "torch.utils.dlpack", "triton", "triton.language", "ctypes", "inspect",
                 "triton.backends.nvidia.driver", "triton.backends.nvidia.compiler",
                 "kbs_backends.languages", "kbs_backends.tasks.computation",
                 "kbs_backends.device.worker"):  # fmt: skip
        if importlib.util.find_spec(name.split(".", maxsplit=1)[0]) is not None:
            importlib.import_module(name)
    tqdm = sys.modules.get("tqdm") or _found("tqdm")
    if tqdm is not None:
        tqdm.tqdm.monitor_interval = 0  # its thread would be taken for one of the candidate's
    import gc

    gc.collect()
    gc.freeze()


def _found(name: str) -> Any:
    """A module that need not be there."""
    import importlib
    import importlib.util

    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _fork(channel: Channel, message: StartWorker) -> int:
    fds = channel.take_fds()
    pid = os.fork()
    if pid:
        for fd in fds:
            os.close(fd)
        return pid
    status = 70
    try:
        os.setsid()
        from kbs_backends.device.worker import run

        status = run(message, fds)
    finally:
        os._exit(status)


def _reap(pid: int, others: set[int]) -> Reaped:
    """End the worker with everything that it started; how it ended by itself, if it had."""
    left = proc.descendants(pid)
    done, status = os.waitpid(pid, os.WNOHANG)
    if not done:
        _kill(pid, group=True)
        _, status = os.waitpid(pid, 0)
    for child in left:
        _kill(child)
    strays = left | _end_strays(others)
    return Reaped(pid=pid, status=os.waitstatus_to_exitcode(status), orphans=len(strays))


def _end_strays(others: set[int]) -> frozenset[int]:
    """Kill what has come to us because its parent died; which processes they were."""
    found: set[int] = set()
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline:
        strays = proc.children(os.getpid()) - others
        if not strays:
            break
        found |= strays
        for stray in strays:
            _kill(stray)
            os.waitpid(stray, os.WNOHANG)
        time.sleep(0.001)
    return frozenset(found)


def _kill(pid: int, *, group: bool = False) -> None:
    try:
        if group:
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if entry not in ("", str(Path.cwd()))]
    main(sys.argv[1:])
    os._exit(0)  # libraries of a process that only forks have nothing to tear down
