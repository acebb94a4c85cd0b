"""Framed messages over a socket: four bytes of length, then msgpack; file descriptors beside.

Between caller and owner and between owner and zygote both ends are ours. Between owner and
worker the other end may be a liar: what cannot be decoded is ``WireError``, never a crash.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

import msgspec

_LENGTH = struct.Struct("<I")
MAX_FDS = 8


class ClosedError(Exception):
    """The other end is gone."""


class WireError(Exception):
    """What came is no message."""


class SilenceError(Exception):
    """Nothing came in time."""


class Channel:
    """One end of a stream socket that carries messages."""

    def __init__(self, sock: socket.socket, *, limit_bytes: int = 256 << 20) -> None:
        """Keep the socket; ``limit_bytes`` is the longest message that is read."""
        self.socket = sock
        self.limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._fds: list[int] = []

    def fileno(self) -> int:
        """For poll."""
        return self.socket.fileno()

    @property
    def pending(self) -> bool:
        """Whether a whole message has been read already."""
        return self._size() is not None

    def send(self, message: Any, fds: Sequence[int] = ()) -> None:
        """Send one message; ClosedError when nobody can take it."""
        data = msgspec.msgpack.encode(message)
        frame = _LENGTH.pack(len(data)) + data
        try:
            sent = socket.send_fds(self.socket, [frame], list(fds)) if fds else 0
            self.socket.sendall(frame[sent:])
        except OSError as problem:
            raise ClosedError(str(problem)) from problem

    def receive(self, kind: Any, timeout_s: float | None = None) -> Any:
        """The next message; SilenceError, ClosedError or WireError when there is none."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.pending:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self.socket], [], [], left)[0]:
                raise SilenceError(f"nothing within {timeout_s:g} s")
            self.fill()
        return self.take(kind)

    def fill(self) -> None:
        """Read what is there; ClosedError at the end of the stream."""
        try:
            data, fds, _, _ = socket.recv_fds(self.socket, 1 << 20, MAX_FDS)
        except OSError as problem:
            raise ClosedError(str(problem)) from problem
        self._fds.extend(fds)
        if not data:
            raise ClosedError("the other end closed the channel")
        self._buffer += data
        self._size()

    def take(self, kind: Any) -> Any:
        """Decode the message that ``pending`` announced."""
        size = self._size()
        if size is None:
            raise WireError("no whole message")
        data = bytes(self._buffer[_LENGTH.size : size])
        del self._buffer[:size]
        try:
            return msgspec.msgpack.decode(data, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            raise WireError(f"not a message: {problem}") from problem

    def take_fds(self) -> list[int]:
        """The descriptors that came so far; the caller closes them."""
        fds, self._fds = self._fds, []
        return fds

    def close(self) -> None:
        """Close the socket and descriptors that nobody took."""
        for fd in self.take_fds():
            with contextlib.suppress(OSError):
                os.close(fd)
        self.socket.close()

    def _size(self) -> int | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        length = int(_LENGTH.unpack_from(self._buffer)[0])
        if length > self.limit_bytes:
            raise WireError(f"a message of {length} bytes")
        whole = _LENGTH.size + length
        return whole if len(self._buffer) >= whole else None


def pair(*, limit_bytes: int = 256 << 20) -> tuple[Channel, socket.socket]:
    """A channel and the socket of its other end, to be given away."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return Channel(ours, limit_bytes=limit_bytes), theirs
