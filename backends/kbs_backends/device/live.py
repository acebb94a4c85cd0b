"""One live worker as the owner sees it: start, attach, load, call, end."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kbs_backends.device import proc
from kbs_backends.device.accelerators import ArenaHandle
from kbs_backends.device.census import Census
from kbs_backends.device.messages import (
    Armed,
    Attach,
    Attached,
    CallOnce,
    Done,
    Failed,
    Inspect,
    Launched,
    Limits,
    Load,
    Loaded,
    Open,
    Opened,
    State,
    Stopped,
    Up,
)  # fmt: skip
from kbs_backends.device.refusal import Refusal, claimed
from kbs_backends.device.supervisor import Supervisor
from kbs_backends.device.watch import GoneError, Watch, Watched
from kbs_backends.device.wire import ClosedError
from kbs_backends.device.zygote_client import Zygote, remove_folder
from kbs_engine.errors import MeasurementError

if TYPE_CHECKING:
    from typing_extensions import Self

M = TypeVar("M")
_SIGNALS = {
    signal.SIGXFSZ: ("wrote_too_much", "a file grew over the limit"),
    signal.SIGXCPU: ("hung", "the limit of CPU time is used up"),
    signal.SIGSYS: ("sandbox_violation", "a system call that is never allowed"),
}
COMPILED_LANGUAGES = ("cuda-cpp", "cutlass")
"""Languages whose sources become a library before a worker loads them."""
LAUNCH_WAIT_S = 0.005
"""How long a shut gate waits for the launches of a call to be queued."""


class Ended(NamedTuple):
    """A call that is over."""

    done: Done
    stopped_ns: int
    """The owner's clock when the worker had said that the device is done."""


class LiveWorker:
    """A worker process; every method raises Refusal when the candidate is at fault."""

    def __init__(
        self, zygote: Zygote, watch: Watch, limits: Limits, *, trusted: bool, sandbox: bool
    ) -> None:
        """Fork and harden; a context manager ends it."""
        self._zygote = zygote
        self._watch = watch
        self.limits = limits
        self._forked, self.channel = zygote.fork(limits, trusted=trusted, sandbox=sandbox)
        self.folder = self._forked.folder
        self._watched = Watched(
            self._forked.pid, self._forked.pidfd, self.folder, self.channel, limits
        )
        watch.add(self._watched)
        self._ended = False
        self._open = False
        self._compiles = True
        """Whether the first call may hold a compiler."""
        self._census = Census(self.pid)
        up = self._expect(Up, 30.0)
        self.isolation = up.isolation
        for fd in self.channel.take_fds():
            self._watched.supervisor = Supervisor(fd, self._watched.own)

    @property
    def pid(self) -> int:
        """Process id."""
        return self._forked.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return not proc.ended(self.pid)

    @property
    def is_open(self) -> bool:
        """Whether ``opened`` has seen it open the device."""
        return self._open

    @property
    def has_answered(self) -> bool:
        """Whether it has said something, or is gone: ``opened`` need not wait."""
        return bool(select.select([self.channel], [], [], 0)[0])

    def open(self, accelerator: str, gpu: int) -> None:
        """Have the device opened, which takes a while; ``opened`` waits for it."""
        self._send(Open(accelerator=accelerator, gpu=gpu))

    def opened(self) -> None:
        """Wait until the device is open."""
        if not self._open:
            self._expect(Opened, 60.0)
            self._open = True

    def attach(self, handle: ArenaHandle) -> None:
        """Have the arena mapped; ``attached`` waits for it."""
        message = Attach(arena=handle.data, arena_bytes=handle.nbytes, gate=handle.gate)
        self._send(message, handle.fds)

    def attached(self) -> None:
        """Wait until the device is open and the arena is mapped."""
        self.opened()
        self._expect(Attached, 60.0)

    def load(self, message: Load) -> None:
        """Have the candidate loaded; ``loaded`` waits for it."""
        self._census = Census(self.pid)
        self._compiles = message.language not in COMPILED_LANGUAGES
        self._send(message)

    def loaded(self) -> tuple[str, ...]:
        """Wait for the candidate; the names of the arguments that it takes."""
        answer = self._receive(self.limits.load_s, idle_s=self.limits.idle_s)
        return self._of_kind(answer, Loaded).arguments

    def arm(self, call: CallOnce, *, first: bool, waits_for_launch: bool) -> None:
        """Send a call up to its shut gate."""
        self._send(call)
        if self._expect(Armed, self.limits.call_s).gate != call.gate:
            raise Refusal("forged_result", "armed for another call")
        if waits_for_launch and not first:
            self._await_launch(call.gate)

    def done(self, gate: int, *, first: bool) -> Ended:
        """Wait for the end of the call that was released.

        Only what comes before a first call's launches can be a compiler.
        """
        if first and self._compiles:
            answer: Any = self._receive(self.limits.load_s, idle_s=self.limits.idle_s)
        else:
            answer = self._receive(self.limits.call_s)
        if isinstance(answer, Launched):
            answer = self._receive(self.limits.call_s)
        stopped_ns = time.perf_counter_ns()
        if isinstance(answer, Stopped) and answer.gate == gate:
            answer = self._receive(self.limits.call_s)
            if isinstance(answer, Done) and answer.gate == gate:
                return Ended(answer, stopped_ns)
        raise Refusal("forged_result", f"{type(answer).__name__} in place of a result")

    def close_gates(self) -> None:
        """The first call is over: no process may be started from here on."""
        if self._watched.supervisor:
            self._watched.supervisor.may_fork = False
        self._no_children()
        self._census.first_call_is_over()

    def inspect(self, *, threads: bool = True, state: bool = True) -> None:
        """Refusal when the candidate left threads, processes or changed state behind."""
        if threads:
            self._no_children()
        self._send(Inspect())
        now = self._expect(State, self.limits.call_s)
        if state and now.patched:
            raise Refusal("patched_harness", ", ".join(now.patched))
        if threads and now.threads:
            raise Refusal("thread_left", ", ".join(now.threads))
        if threads:
            self._census.look()
        if state and now.changed:
            raise Refusal("state_changed", ", ".join(now.changed))

    @property
    def threads(self) -> int:
        """Threads of the process, counted from outside."""
        return proc.thread_count(self.pid)

    def kill(self) -> None:
        """Let the process die; ``end`` must follow. Several die at once so, not one by one."""
        self._watch.remove(self._watched)
        if not self._ended and self._forked.pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._forked.pidfd, signal.SIGKILL)

    def end(self) -> int:
        """Kill the group, remove the folder; exit status (negative: signal) if it had ended."""
        if self._ended:
            return 0
        self._ended = True
        self._watch.remove(self._watched)
        try:
            return self._zygote.reap(self._forked).status
        finally:
            if self._forked.pidfd >= 0:
                os.close(self._forked.pidfd)
            if self._watched.supervisor:
                os.close(self._watched.supervisor.listener)
            self.channel.close()
            self._said = self._last_words()
            remove_folder(self.folder)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.end()

    def _no_children(self) -> None:
        left = proc.children(self.pid)
        if left:
            told = "1 process was" if len(left) == 1 else f"{len(left)} processes were"
            raise Refusal("forked", f"{told} left running")

    def _await_launch(self, gate: int) -> None:
        try:
            answer = self._receive(LAUNCH_WAIT_S)
        except Refusal as silence:
            if silence.code == "hung":
                return  # the call waits for its own result inside: honest, but not overlapped
            raise
        if not isinstance(answer, Launched) or answer.gate != gate:
            raise Refusal("forged_result", f"{type(answer).__name__} before the gate opened")

    def _send(self, message: Any, fds: tuple[int, ...] = ()) -> None:
        try:
            self.channel.send(message, fds)
        except ClosedError:
            raise self._obituary() from None

    def _expect(self, kind: type[M], timeout_s: float) -> M:
        return self._of_kind(self._receive(timeout_s), kind)

    def _of_kind(self, answer: Any, kind: type[M]) -> M:
        if not isinstance(answer, kind):
            raise Refusal("forged_result", f"{type(answer).__name__} in place of an answer")
        return answer

    def _receive(self, timeout_s: float, *, idle_s: float | None = None) -> Any:
        try:
            answer = self._watch.receive(self._watched, timeout_s, idle_s=idle_s)
        except GoneError:
            raise self._obituary() from None
        self._offences()
        if isinstance(answer, Failed):
            raise claimed(answer.code, answer.detail)
        return answer

    def _offences(self) -> None:
        supervisor = self._watched.supervisor
        if supervisor and supervisor.offences:
            first = supervisor.offences[0]
            raise Refusal(first.code, first.detail)

    def _obituary(self) -> Exception:
        """Why the process is gone."""
        try:
            self._offences()
            self._watched.look()
        except Refusal as refusal:
            return refusal
        zygote_lived = self._zygote.alive
        status = self.end()
        if not zygote_lived:
            return self._zygote_died()
        said = f"; it said: {self._said}" if self._said else ""
        if status >= 0:
            return Refusal("exited", f"with status {status}{said}")
        code, detail = _SIGNALS.get(
            signal.Signals(-status), ("crashed", f"by signal {signal.Signals(-status).name}")
        )
        return Refusal(code, detail + said)

    def _zygote_died(self) -> Exception:
        if self.isolation.get("seccomp") != "on":
            return Refusal("sandbox_violation", "the candidate's parent process was ended")
        return MeasurementError(
            "the process that starts candidates was ended from outside",
            remedy="submit the job again: a new one is started",
        )

    def _last_words(self) -> str:
        try:
            text = self.folder.with_suffix(".err").read_bytes()[-2000:].decode(errors="replace")
        except OSError:
            return ""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""
