"""The owner's answers to a candidate's dangerous system calls (see ``seccomp``).

Starting processes is allowed while a candidate loads and makes its first call, because
compilers run then; later it is denied and told. Signals reach only the candidate's own
processes. Network, tracing and reading of other processes are denied and told.
"""

from __future__ import annotations

import errno
import fcntl
import struct
from collections.abc import Callable

import msgspec

from kbs_backends.device.kernel_calls import numbers
from kbs_backends.device.seccomp import SIGNALS

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
"""SECCOMP_IOCTL_NOTIF_RECV and _SEND (linux/seccomp.h)."""
_NOTIF = struct.Struct("<QIIiIQ6Q")
_ANSWER = struct.Struct("<QqiI")
_CONTINUE = 1
_FORKS = ("fork", "vfork", "clone")
_PROBES = (16, 10)
"""AF_NETLINK and AF_INET6: libraries ask for them at start; denied, but no offence."""


class Offence(msgspec.Struct, frozen=True, kw_only=True):
    """A denied system call."""

    code: str
    """A reason code."""
    detail: str


class Supervisor:
    """Answers one worker's listener."""

    def __init__(self, listener: int, own: Callable[[], frozenset[int]]) -> None:
        """``own`` gives the process ids of the worker and its descendants."""
        self.listener = listener
        self.may_fork = True
        self.offences: list[Offence] = []
        self._own = own
        self._names = {number: name for name, number in numbers().items()}

    def answer(self) -> None:
        """Answer one waiting call; a caller that died meanwhile needs none."""
        buffer = bytearray(_NOTIF.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, buffer, True)
        except OSError as problem:
            if problem.errno in (errno.ENOENT, errno.EINTR):
                return
            raise
        fields = _NOTIF.unpack(buffer)
        ident, number, first = fields[0], fields[3], fields[6]
        name = self._names.get(number, f"system call {number}")
        allowed, offence = self._judge(name, first)
        if offence:
            self.offences.append(offence)
        reply = _ANSWER.pack(ident, 0, 0 if allowed else -errno.EPERM, _CONTINUE * allowed)
        try:
            fcntl.ioctl(self.listener, _SEND, bytearray(reply))
        except OSError as problem:
            if problem.errno not in (errno.ENOENT, errno.EINPROGRESS):
                raise

    def _judge(self, name: str, first: int) -> tuple[bool, Offence | None]:
        if name in _FORKS:
            if self.may_fork:
                return True, None
            return False, Offence(code="forked", detail=f"{name} after the first call")
        if name in (*SIGNALS, "tkill"):
            target = first & 0xFFFFFFFF
            if target == 0 or target in self._own():
                return True, None
            return False, Offence(code="sandbox_violation", detail=f"{name} to process {target}")
        if name == "socket" and first in _PROBES:
            return False, None
        return False, Offence(code="sandbox_violation", detail=name)
