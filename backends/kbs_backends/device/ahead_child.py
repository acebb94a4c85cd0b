"""One tool that was started ahead, with a program under it that waits for what to call."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from kbs_backends.device import proc
from kbs_backends.device.await_request import SOCKET, Begun, Call, peer
from kbs_backends.device.single_call import GO, HOLD_TICK_S, PREPARED
from kbs_backends.device.wire import Channel, ClosedError, SilenceError, WireError
from kbs_backends.profilers.base import REPORT_NAME, Finished, Target, ToolStart, Turn
from kbs_backends.run_tool import ToolRun, end_tool

PROGRAM = (sys.executable, "-m", "kbs_backends.device.single_call")
"""The program under every tool."""
START_S = 60.0
"""Longest time from the start of a tool to the program's being ready."""
BEGIN_S = 10.0
"""Longest time from a request to the word that it was read."""
PREPARE_S = 20.0
"""So long may a program prepare beside others; one that compiles for longer, or whose prints
nobody reads meanwhile, goes on once the device is its own."""
END_S = 2.0
"""So long may a tool take to end by itself once its program has."""
_TICK_S = 0.1


class AheadChild:
    """A tool and its waiting program. ``settle`` must be called once, by whoever started it."""

    def __init__(self, start: ToolStart, env: Mapping[str, str], workdir: Path) -> None:
        """Start the tool in a private folder below ``workdir``; OSError where that fails."""
        self.start = start
        self.env = dict(env)
        self.ready = threading.Event()
        """Set once it is known whether the program waits: see ``channel``."""
        self.channel: Channel | None = None
        self._lock = threading.Lock()
        self._left = False
        self.folder = Path(tempfile.mkdtemp(prefix="ahead-", dir=workdir))
        self.command = start.argv(
            (*PROGRAM, "--wait", str(os.getpid())), self.folder / REPORT_NAME, waits=True
        )
        try:
            self._listener = _listen(self.folder)
        except OSError:
            self._remove()
            raise
        try:
            self._process = subprocess.Popen(
                self.command, cwd=self.folder, env=self.env, text=True, errors="replace",
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError:
            self._listener.close()
            self._remove()
            raise

    @property
    def pid(self) -> int:
        """Process id of the tool."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the tool runs and its program has not closed its end."""
        if self._process.poll() is not None:
            return False
        return self.channel is None or not select.select([self.channel], [], [], 0)[0]

    def settle(self, stopped: threading.Event) -> bool:
        """Wait until the program is ready; whether it is. The way to it is closed behind it."""
        deadline = time.monotonic() + START_S
        try:
            while time.monotonic() < deadline and self.alive and not stopped.is_set():
                if not select.select([self._listener], [], [], _TICK_S)[0]:
                    continue
                sock, _ = self._listener.accept()
                if self._ours(sock) and self._keeps(sock):
                    break
                sock.close()
        finally:
            self._listener.close()
            (self.folder / SOCKET).unlink(missing_ok=True)
            self.ready.set()
        return self.channel is not None

    def run(self, target: Target, turn: Turn | None = None) -> Finished | None:
        """Make the call of ``target``; None where the program did not take the request.

        With a ``turn`` the program stands before its range until that is taken.
        """
        arguments = target.argv[len(PROGRAM) :]
        hold = () if turn is None else ("--hold", str(self.folder.resolve()))
        if not self._asked(Call(arguments=(*arguments, *hold), cwd=target.cwd)):
            return None
        if turn is not None:
            self._prepared()
            turn()
            (self.folder / GO).touch()
        try:
            out, err = self._process.communicate(timeout=target.timeout_s)
        except subprocess.TimeoutExpired:
            end_tool(self._process)
            told = f"no answer within {target.timeout_s:g} s"
            run = ToolRun(command=self.command, code=None, stderr=told)
            return Finished(run=run, arguments=arguments, timed_out=True)
        run = ToolRun(command=self.command, code=self._process.returncode, stdout=out, stderr=err)
        return Finished(run=run, arguments=arguments)

    def take_files(self, into: Path) -> None:
        """Move what the tool left to the folder ``into``."""
        for path in self.folder.iterdir():
            if path.name in (PREPARED, GO):
                continue
            into.mkdir(parents=True, exist_ok=True)
            shutil.move(path, into / path.name)

    def leave(self) -> None:
        """Tell the program to end, without waiting for it."""
        with self._lock:
            self._left = True
            if self.channel is not None:
                self.channel.close()

    def end(self) -> None:
        """End the tool and its program, gently where it waits; nothing of it is left."""
        self.leave()
        if self.channel is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=END_S)
        end_tool(self._process)
        self._remove()

    def _prepared(self) -> None:
        """Wait until the program stands before its range, has ended, or takes too long."""
        deadline = time.monotonic() + PREPARE_S
        while time.monotonic() < deadline and self._process.poll() is None:
            if (self.folder / PREPARED).exists():
                return
            time.sleep(HOLD_TICK_S)

    def _asked(self, call: Call) -> bool:
        """Whether the program read the call; the channel is closed behind it."""
        if self.channel is None:
            return False
        try:
            self.channel.send(call)
            self.channel.receive(Begun, BEGIN_S)
        except (ClosedError, SilenceError, WireError):
            return False
        self.channel.close()
        self.channel = None
        return True

    def _keeps(self, sock: socket.socket) -> bool:
        """Keep the way to the program, unless it is no longer wanted."""
        with self._lock:
            if not self._left:
                self.channel = Channel(sock, limit_bytes=1 << 20)
            return not self._left

    def _ours(self, sock: socket.socket) -> bool:
        """Only a process below the tool may ask what to call."""
        pid, uid = peer(sock)
        return uid == os.getuid() and pid in {self.pid, *proc.descendants(self.pid)}

    def _remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _listen(folder: Path) -> socket.socket:
    """A socket in the folder; named through it, as the name of a socket is 107 bytes at most."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{handle}/{SOCKET}")
        listener.listen(4)
    except OSError:
        listener.close()
        raise
    finally:
        os.close(handle)
    return listener
