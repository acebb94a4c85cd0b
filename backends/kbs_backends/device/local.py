"""LocalDevice: runs jobs on this machine, through one owner process for its GPU."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from kbs_backends.device.answers import compiled_sources, failed, not_compiled
from kbs_backends.device.context_settings import Settings
from kbs_backends.device.floors import Floors
from kbs_backends.device.gpus import choose_kind
from kbs_backends.device.messages import Limits
from kbs_backends.device.outside import Outside
from kbs_backends.device.owner_client import Owner
from kbs_backends.device.requests import Request
from kbs_backends.device.static_jobs import StaticJobs
from kbs_backends.device.turns import Turns
from kbs_backends.device.wide_pass import Widest
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import KbsError, MeasurementError
from kbs_engine.facts import Chip
from kbs_engine.jobs import (
    Ceiling,
    Check,
    Compile,
    Disassemble,
    Job,
    Probe,
    ProfileJob,
    Result,
    Sanitize,
    SourceRef,
    Task,
    Time,
)  # fmt: skip
from kbs_engine.refusals import DEFENCES
from kbs_engine.results import Machine, Timed, read

if TYPE_CHECKING:
    from typing_extensions import Self

    from kbs_backends.profilers import Turn

COMPILERS = 4
"""Sources that are compiled at once: one for each branch of a usual round."""


class LocalDevice:
    """This machine as a device; a context manager that ends every process it started.

    Jobs that use the GPU run one after the other, but for the tools: sources are checked beside
    the sanitizer and while a profiler prepares; compiling and disassembling run beside all.
    """

    def __init__(
        self,
        blobs: BlobStore,
        *,
        kind: Literal["cuda", "host", "auto"] = "auto",
        gpu: int = 0,
        workdir: Path | None = None,
        limits: Limits | None = None,
        chip: Chip | None = None,
        arch: str = "",
        off: Sequence[str] = (),
    ) -> None:
        """Nothing is started before the first job.

        Args:
            blobs: Where sources and references lie.
            kind: ``auto`` takes a GPU; there is no silent fall-back to the host.
            gpu: Index as CUDA counts those that are visible, by PCI bus id.
            workdir: Folder for private folders and caches; default: a temporary one.
            limits: What one candidate may take.
            chip: Cited specs of the GPU, for the physics floor; None: no floor.
            arch: Target of .cu sources; default: the GPU's own.
            off: Defences that a test switches off (``kbs_engine.refusals.DEFENCES``).

        Raises:
            MeasurementError: ``auto`` or ``cuda`` without a GPU; says what else can be done.
            ValueError: An unknown defence.
        """
        unknown = [name for name in off if name not in DEFENCES]
        if unknown:
            msg = f"no such defence: {', '.join(unknown)}"
            raise ValueError(msg)
        self.kind = choose_kind(kind)
        self.gpu = gpu
        self.blobs = blobs
        self._given_arch = arch
        self._own_workdir = workdir is None
        self._workdir = workdir or Path(tempfile.mkdtemp(prefix="kbs-device-"))
        self._workdir.mkdir(parents=True, exist_ok=True)
        settings = Settings(
            kind=self.kind, gpu=gpu, blobs=str(blobs.folder.resolve()),
            workdir=str(self._workdir.resolve()), temporary=self._own_workdir,
            limits=limits or Limits(), off=tuple(off),
        )  # fmt: skip
        self._owner = Owner(settings)
        self._static = StaticJobs(blobs, self._workdir / "static")
        self._outside = Outside(blobs, self._static, self._workdir / "outside", self.kind, gpu)
        self._turns = Turns(self._quiet)
        self._static_queue = ThreadPoolExecutor(COMPILERS, thread_name_prefix="kbs-compile")
        self._machine: Machine | None = None
        self._probed = False
        self._opens = False
        floored = self.kind == "cuda" and "physics_floor" not in off
        self._floors = Floors(self._owner.ask, chip if floored else None)
        self._closed = threading.Event()

    def expect_many(self, widest: Widest | None = None) -> None:
        """A run's jobs will come: keep tools started and processes open for them from now on.

        Args:
            widest: What any pass of the profiler could ask for, by compute capability × 10;
                the first pass of a short kernel then collects it all.
        """
        self._owner.expect_many()
        self._outside.expect_many(widest)

    def submit(self, job: Job) -> Future[Result]:
        """Queue a job; the future holds a Result, with a failure where it could not run."""
        if self._closed.is_set():
            raise MeasurementError("the device is closed", remedy="open a new one")
        if isinstance(job, (Compile, Check)) and self._machine is not None:
            self._outside.expect(self._machine)
        if isinstance(job, (Compile, Disassemble)):
            if isinstance(job, Compile):
                self._start_beside()
            return self._static_queue.submit(self._guarded, job, self._static.run)
        if isinstance(job, (Check, Time)):
            self._compile_ahead(job)
        if isinstance(job, Sanitize):
            return self._turns.aside(partial(self._begin_aside, job))
        if isinstance(job, ProfileJob):
            return self._turns.held(partial(self._begin_aside, job))
        alone = isinstance(job, (Time, Ceiling))
        return self._turns.submit(partial(self._guarded, job, self._on_device), alone=alone)

    def close(self) -> None:
        """End the owner, its zygote and all workers; waits for the job of now."""
        self._close(amid=False)

    def _close(self, *, amid: bool) -> None:
        if self._closed.is_set():
            return
        self._closed.set()
        self._turns.close(amid=amid, end=self._owner.abandon)
        self._static_queue.shutdown(wait=True, cancel_futures=True)
        self._outside.close()
        self._owner.close()
        if self._own_workdir:
            shutil.rmtree(self._workdir, ignore_errors=True)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Close; after an exception, such as Ctrl-C, without waiting for the job of now."""
        self._close(amid=any(problem))

    @property
    def owner_pid(self) -> int:
        """Process id of the owner; 0 before the first job."""
        return self._owner.pid

    def _start_beside(self) -> None:
        """What is compiled will be run: the device opens while a compiler works."""
        if self._machine is not None:
            self._turns.when_idle(self._idle)
        elif not self._opens:
            self._opens = True
            self._turns.submit(self._known_machine, alone=False)  # its problem will return

    def _compile_ahead(self, job: Check | Time) -> None:
        """What waits for the device is compiled meanwhile, several sources at once."""
        if self._machine is None or self._machine.device != "cuda":
            return
        for source in compiled_sources(job):
            self._static_queue.submit(self._compile_quietly, source, job.task)

    def _compile_quietly(self, source: SourceRef, task: Task) -> None:
        try:
            self._static.library(source, self._arch(source), task)
        except KbsError:
            return  # the job itself meets it, and tells

    def _guarded(self, job: Job, run: Callable[[Any], Result]) -> Result:
        try:
            return run(job)
        except KbsError as problem:
            return failed(job, problem)

    def _on_device(self, job: Job) -> Result:
        if isinstance(job, Ceiling):
            machine = self._known_machine(probed=True)
            self._owner.quiet()
            try:
                return self._outside.run(job, machine)
            finally:
                self._turns.when_idle(self._idle)
        if isinstance(job, Probe):
            return self._probe(job)
        if isinstance(job, Check):
            return self._check(job)
        if isinstance(job, Time):
            return self._judge(job)
        return self._owner.ask(Request(job=_any(job)))

    def _begin_aside(
        self, job: Sanitize | ProfileJob, turn: Turn | None = None
    ) -> Callable[[], Result]:
        """On the device's thread: how the job is run beside checks, up to its ``turn``."""
        try:
            machine = self._known_machine(probed=True)
        except KbsError as problem:
            return partial(failed, job, problem)
        self._quiet()  # the tool opens the device now, and would wait for others that do

        def run(job: Job) -> Result:
            try:
                return self._outside.run(job, machine, turn)
            finally:
                self._turns.when_idle(self._idle)

        return partial(self._guarded, job, run)

    def _quiet(self) -> None:
        """A tool uses the device; a dead owner opens nothing, and is told by the next job."""
        with contextlib.suppress(MeasurementError):
            self._owner.quiet()

    def _idle(self) -> None:
        """Nothing waits for the device: processes for the next jobs may open it."""
        with contextlib.suppress(MeasurementError):  # a dead owner is told by the next job
            self._owner.idle()

    def _probe(self, job: Probe) -> Result:
        result = self._owner.ask(Request(job=job))
        if result.value is None:
            return result
        machine = self._outside.with_tools(read(result, Machine))
        self._machine, self._probed = machine, True
        return msgspec.structs.replace(result, value=msgspec.to_builtins(machine))

    def _known_machine(self, *, probed: bool = False) -> Machine:
        """The machine; ``probed``: with its tools and one counter read, which takes seconds."""
        if self._machine is None:
            result = self._owner.ask(Request(job=Probe()))
            self._machine = read(result, Machine)
        if probed and not self._probed:
            self._machine, self._probed = self._outside.with_tools(self._machine), True
        return self._machine

    def _check(self, job: Check) -> Result:
        """Check; once more alone where it failed for want of memory that tools may have held."""
        shared = self._turns.shared
        result = self._judge(job)
        if shared and (result.value is None or result.value["reason"] == "out_of_memory"):
            self._turns.settle()
            result = self._judge(job)
        return result

    def _judge(self, job: Check | Time) -> Result:
        artifacts: dict[str, str] = {}
        for source in compiled_sources(job):
            built = self._static.library(source, self._arch(source), job.task)
            if isinstance(built, Path):
                artifacts[source.sha256] = str(built)
            elif isinstance(job, Check):
                return not_compiled(job, built)
        request = Request(job=job, artifacts=artifacts, fill=not self._turns.shared)
        result = self._owner.ask(request)
        if isinstance(job, Time) and result.value is not None:
            self._outside.saw(job, read(result, Timed))
            result = self._floors.floored(job, result)
        return result

    def _arch(self, source: SourceRef) -> str:
        machine = self._known_machine()
        if machine.device != "cuda":
            raise MeasurementError(
                f"{source.language} kernels run on a GPU only", where=source.name,
                remedy="use --device cuda on a machine with a GPU; `kbs asm` needs none",
            )  # fmt: skip
        return self._given_arch or machine.arch


def _any(job: Job) -> Any:
    return job
