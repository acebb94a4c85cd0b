"""What every job in the owner works with."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from kbs_backends.device import warm_triton
from kbs_backends.device.accelerators import OwnerSide
from kbs_backends.device.arena import Arena
from kbs_backends.device.calls import ArmState
from kbs_backends.device.context_settings import Settings
from kbs_backends.device.kept_cache import CompiledBefore
from kbs_backends.device.live import LiveWorker
from kbs_backends.device.messages import Load
from kbs_backends.device.ready import Ready, how_many
from kbs_backends.device.second_clock import ClockWorker
from kbs_backends.device.task import LoadedTask
from kbs_backends.device.watch import Watch
from kbs_backends.device.zygote_client import Zygote
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Arm, SourceRef, Task

CROWDED = 8
"""A task that needs more than this part of the memory has it to itself."""


class Bench:
    """Device, zygote and settings of one owner; makes tasks and workers."""

    def __init__(
        self,
        settings: Settings,
        side: OwnerSide,
        zygote: Zygote,
        step: Callable[[], object] = lambda: None,
    ) -> None:
        """One owner has one bench; ``step`` is called while workers are waited for."""
        self.settings = settings
        self.side = side
        self.zygote = zygote
        self.watch = Watch(step)
        self.blobs = BlobStore(Path(settings.blobs))
        self.off = frozenset(settings.off)
        self.compiled = CompiledBefore()
        self._tasks = 0
        self._warm = Path(settings.workdir) / "warm-triton"
        most = settings.limits.waiting
        if side.name == "cuda":
            warm_triton.build(self._warm, side.torch_device)
            most = how_many(side.memory_bytes) if most is None else most
        self._dying: deque[ArmState] = deque()
        self._clock: ClockWorker | None = None
        self._clocks = False
        """Whether a timing is using it."""
        self.ready = Ready(lambda: self._opening(trusted=False), most or 0, many=settings.many)

    def load(self, task: Task) -> LoadedTask:
        """The task on this device, in a folder of its own."""
        self._tasks += 1
        folder = Path(self.settings.workdir) / f"task-{self._tasks}"
        return LoadedTask(task, self.blobs, folder, self.side.torch_device)

    def start(self, arm: Arm, task: LoadedTask) -> ArmState:
        """A fresh worker for one arm with an arena of its own; nothing is loaded."""
        state = self.begin(task, trusted=not isinstance(arm, SourceRef))
        with contextlib.ExitStack() as undo:
            undo.callback(self.end, state)
            state.worker.attached()
            undo.pop_all()
        return state

    def begin(self, task: LoadedTask, *, trusted: bool) -> ArmState:
        """A fresh worker that opens the device; one that is not trusted is shut in.

        ``state.worker.attached()`` waits for it.
        """
        if self._crowded(task):
            self.close()
        worker = None if trusted else self.ready.take()
        worker = worker or self._opening(trusted=trusted)
        with contextlib.ExitStack() as undo:
            undo.callback(worker.end)
            arena = self._arena(task)
            state = ArmState(worker, arena, trusted=trusted)
            undo.pop_all()
            undo.callback(self.end, state)
            worker.attach(arena.block.handle)
            undo.pop_all()
        if not trusted:
            state.notes += [
                f"isolation without {name}: {why}"
                for name, why in worker.isolation.items()
                if why != "on"
            ]
        return state

    @contextlib.contextmanager
    def clock(self, task: LoadedTask) -> Iterator[ClockWorker]:
        """The worker of the second clock, kept from one timing to the next of the same layout."""
        if self._clock is None or not self._clock.serves(task):
            self._end_clock()
            self._clock = ClockWorker(self, task)
        self._clocks = True
        with contextlib.ExitStack() as after:
            after.callback(self._done_with_clock, task)
            wrong = after.enter_context(contextlib.ExitStack())
            wrong.callback(self._clock.spoil)
            yield self._clock
            wrong.pop_all()

    def _done_with_clock(self, task: LoadedTask) -> None:
        """Keep it for the next timing, where it serves and has room."""
        self._clocks = False
        if self._clock is None or self._crowded(task) or not self._clock.serves(task):
            self._end_clock()

    def _end_clock(self) -> None:
        """The next timing has a new one; one that is being used stays."""
        if self._clock is not None and not self._clocks:
            self._clock.end()
            self._clock = None

    def _crowded(self, task: LoadedTask) -> bool:
        return CROWDED * task.layout.total_bytes > self.side.memory_bytes

    def _arena(self, task: LoadedTask) -> Arena:
        """One of its own; who waits or dies makes room for it."""
        move = "moved_buffers" not in self.off
        try:
            return Arena(self.side, task.layout, move=move)
        except MeasurementError:
            spare = self._clock is not None and not self._clocks
            if not (self._dying or len(self.ready) or spare):
                raise
        self.close()
        return Arena(self.side, task.layout, move=move)

    def _opening(self, *, trusted: bool) -> LiveWorker:
        """A fresh worker that was told to open the device."""
        worker = LiveWorker(
            self.zygote, self.watch, self.settings.limits, trusted=trusted,
            sandbox="sandbox" not in self.off,
        )  # fmt: skip
        with contextlib.ExitStack() as undo:
            undo.callback(worker.end)
            warm_triton.give(self._warm, worker.folder)
            worker.open(self.side.name, self.settings.gpu)
            undo.pop_all()
        return worker

    def end(self, state: ArmState) -> None:
        """Kill the worker; ``bury`` waits for its end and frees its arena.

        Closing a device takes a while, and one is closed after the other: meanwhile the answer
        is on its way.
        """
        state.worker.kill()
        self._dying.append(state)

    def bury(self) -> None:
        """Wait for those that were killed, remove what they left, free their arenas."""
        while self._dying:
            state = self._dying.popleft()
            state.worker.end()
            state.arena.block.free()

    def quiet(self) -> None:
        """Wait until no process opens or closes the device: it disturbs what is timed."""
        self.bury()
        self.ready.quiet()

    def close(self) -> None:
        """End every worker that no job is using."""
        self._end_clock()
        self.bury()
        self.ready.end()

    def fill(
        self, state: ArmState, arm: Arm, task: LoadedTask, artifacts: Mapping[str, str]
    ) -> None:
        """Load the arm in its worker."""
        self.begin_filling(state, arm, task, artifacts)
        state.worker.loaded()

    def begin_filling(
        self, state: ArmState, arm: Arm, task: LoadedTask, artifacts: Mapping[str, str]
    ) -> None:
        """Have the arm loaded in its worker; ``state.worker.loaded()`` waits for it."""
        if isinstance(arm, SourceRef):
            path = state.worker.folder / (Path(arm.name).name or "kernel.py")
            path.write_bytes(self.blobs.get(arm.sha256))
            artifact = artifacts.get(arm.sha256)
            if artifact is not None:  # the cache itself is out of its sight
                artifact = str(shutil.copy(artifact, state.worker.folder))
            message = Load(
                path=str(path), language=arm.language, artifact=artifact, dims=task.task.dims
            )
        else:
            message = Load(
                path=str(task.reference_path), baseline=arm.name, dims=task.task.dims,
                only_returned=task.reference.only_returned,
            )  # fmt: skip
        state.worker.load(message)


def seconds_since(start: float) -> float:
    """Elapsed wall seconds."""
    return time.monotonic() - start
