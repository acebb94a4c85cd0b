"""The waiting side of ``single_call --wait``: import everything, then ask what to call.

Nothing here touches the GPU: no context, no memory of it and no counters are held while this
process waits. It ends when the device process is gone (its socket closes, also after kill -9)
or when the tool is gone that it runs under (another parent). ``PR_SET_PDEATHSIG`` would not do:
it fires when the *thread* ends that started this process, and a tool may start it on any.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import select
import socket
import sys
from pathlib import Path

import msgspec

from kbs_backends.device.wire import Channel, ClosedError, WireError

SOCKET = "request"
"""Name of the socket in the folder in which the tool is started."""
CHECK_S = 1.0
"""Between two looks at the parent."""

_PRELOADED = (
    "torch", "torch.utils.dlpack", "triton", "triton.language", "ctypes", "inspect",
    "triton.backends.nvidia.driver", "triton.backends.nvidia.compiler",
    "kbs_backends.languages", "kbs_backends.languages.arguments", "kbs_backends.tasks",
    "kbs_backends.tasks.computation", "kbs_backends.device.zero_scratch",
)  # fmt: skip
"""What a call of any language imports; none of them makes a CUDA call."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """Device to child: the arguments that ``single_call`` takes, and the folder to be in."""

    arguments: tuple[str, ...]
    cwd: str | None = None


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """Child to device: the request is read; what comes now is the call's own."""

    pid: int


def await_request(owner: int) -> list[str] | None:
    """Wait for the arguments of the one call; None when there will be none.

    Args:
        owner: Process id of the device; the socket must be its own.
    """
    parent, started_in = os.getppid(), str(Path.cwd())
    _preload()
    try:
        channel = _connected(owner)
        if channel is None:
            return None
        try:
            while not select.select([channel], [], [], CHECK_S)[0]:
                if os.getppid() != parent:
                    return None
            call: Call = channel.receive(Call)
            channel.send(Begun(pid=os.getpid()))
        finally:
            channel.close()  # the candidate never sees it
    except (ClosedError, WireError, OSError):
        return None
    _move(started_in, call.cwd)
    return list(call.arguments)


def _connected(owner: int) -> Channel | None:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.connect(SOCKET)
        if peer(sock)[0] == owner:
            return Channel(sock)
    except OSError:
        sock.close()
        raise
    sock.close()
    return None


def peer(sock: socket.socket) -> tuple[int, int]:
    """Process id and user id of the other end (unix(7), SO_PEERCRED)."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid = int.from_bytes(raw[:4], sys.byteorder), int.from_bytes(raw[4:8], sys.byteorder)
    return pid, uid


def _preload() -> None:
    for name in _PRELOADED:
        if importlib.util.find_spec(name.split(".", maxsplit=1)[0]) is not None:
            importlib.import_module(name)


def _move(started_in: str, folder: str | None) -> None:
    """Be where a usual start would be, also in the path of modules."""
    if folder is None:
        return
    os.chdir(folder)
    sys.path[:] = [str(Path.cwd()) if entry == started_in else entry for entry in sys.path]
