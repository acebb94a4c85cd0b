"""Jobs of outside tools: profiler, sanitizer, ceilings. They run ``single_call`` or their own."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kbs_backends.device.ahead import StartedAhead
from kbs_backends.device.ahead_child import PROGRAM
from kbs_backends.device.environ import child_environment
from kbs_backends.device.static_jobs import StaticJobs
from kbs_backends.device.wide_pass import WidePass, Widest
from kbs_engine.blobs import BlobStore
from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Ceiling, Job, ProfileJob, Result, Sanitize, SourceRef, Task, Time
from kbs_engine.results import Machine, Timed

if TYPE_CHECKING:
    from kbs_backends.profilers import Profiler, Report, Target, Turn

TOOLS = (
    ("nvcc", r"release [\d.]+"), ("ncu", r"Version [\d.]+"), ("cuobjdump", r"release [\d.]+"),
    ("nvdisasm", r"release [\d.]+"), ("compute-sanitizer", r"Version [\d.]+"),
)  # fmt: skip


class Outside:
    """Runs the tools of this machine on one call of a candidate."""

    def __init__(
        self, blobs: BlobStore, static: StaticJobs, workdir: Path, kind: str, gpu: int
    ) -> None:
        """``kind`` and ``gpu`` are the device's."""
        self._ahead: StartedAhead | None = None
        self._wide: WidePass | None = None
        self._blobs = blobs
        self._static = static
        self._workdir = workdir
        self._kind = kind
        self._gpu = gpu

    def expect_many(self, widest: Widest | None) -> None:
        """From now on tools are started ahead, and first passes of short kernels are wide."""
        if self._ahead is None and self._kind == "cuda":
            self._ahead = StartedAhead(self._workdir)
            self._wide = None if widest is None else WidePass(widest)

    def saw(self, job: Time, timed: Timed) -> None:
        """The times of sources, by which passes of the profiler are chosen."""
        if self._wide is not None:
            self._wide.saw(job, timed)

    def expect(self, machine: Machine) -> None:
        """What is compiled or checked will be sanitized and profiled: start the tools for it."""
        if self._ahead is None:
            return
        from kbs_backends.profilers import NcuProfiler
        from kbs_backends.sanitizer import DEFAULT_TOOLS, tool_start

        for tool in DEFAULT_TOOLS:
            self._ahead.expect(tool_start(tool))
        if machine.counters:
            plan = self._wide.of(machine) if self._wide else None
            asked = (plan.sections, plan.metrics) if plan else ()
            self._ahead.expect(NcuProfiler().start(*asked))

    def close(self) -> None:
        """End the tools that wait."""
        if self._ahead is not None:
            self._ahead.close()

    def run(self, job: Job, machine: Machine, turn: Turn | None = None) -> Result:
        """Answer a job; KbsError where its tool is not here.

        ``turn`` is taken before a profiler measures.
        """
        if self._kind != "cuda" and isinstance(job, ProfileJob):
            return self._profile(job, machine, turn)
        if self._kind != "cuda":
            raise MeasurementError(
                f"a {job.__struct_config__.tag} job needs a GPU",
                remedy="use --device cuda on a machine with a GPU",
            )
        if isinstance(job, ProfileJob):
            return self._profile(job, machine, turn)
        if isinstance(job, Sanitize):
            return self._sanitize(job, machine)
        if isinstance(job, Ceiling):
            from kbs_backends.ceilings import measure

            return _result(job, msgspec.to_builtins(measure(job.dtypes, gpu=self._gpu)))
        raise MeasurementError(f"no outside tool runs a {type(job).__name__} job")

    def with_tools(self, machine: Machine) -> Machine:
        """The machine with the tools found and whether counters can be read."""
        from kbs_backends import environment

        found = {
            name: finding.detail
            for name, pattern in TOOLS
            if (finding := environment.find_tool(name, pattern, costs="", remedy="")).state == "ok"
        }
        if machine.device != "cuda":
            return msgspec.structs.replace(machine, tools=found)
        by_part = {finding.part: finding for finding in environment.survey()}
        counter = by_part.get("counter read")
        return msgspec.structs.replace(
            machine, tools=found, counters=counter is not None and counter.state == "ok",
            counters_why_not="" if counter is None or counter.state == "ok" else counter.detail,
        )  # fmt: skip

    def _profile(self, job: ProfileJob, machine: Machine, turn: Turn | None) -> Result:
        from kbs_backends.profilers import Target, choose_profiler

        profiler = choose_profiler(
            vendor="nvidia", counters=machine.counters,
            why_not=machine.counters_why_not or "this device is a CPU",
            ahead=self._ahead, turn=turn,
        )  # fmt: skip
        self._workdir.mkdir(parents=True, exist_ok=True)
        output = Path(tempfile.mkdtemp(prefix="profile-", dir=self._workdir))
        target = Target(
            argv=self.command(job.source, job.task, machine),
            cwd=str(output),
            env=child_environment(),
        )
        report = self._wide_report(job, machine, profiler, target, output)
        if report is None:
            report = profiler.profile(
                target, sections=job.sections, metrics=job.metrics, output=output
            )
        sha256 = self._blobs.put(report.path.read_bytes()) if report.path else ""
        return _result(job, msgspec.to_builtins(report.stored(sha256)))

    def _wide_report(
        self, job: ProfileJob, machine: Machine, profiler: Profiler, target: Target, output: Path
    ) -> Report | None:
        """A first pass that holds what a second one could ask for; None where none is made."""
        plan = self._wide.plan(job, machine) if self._wide and profiler.name == "ncu" else None
        if plan is None or self._wide is None:
            return None
        began = time.monotonic()
        try:
            report = profiler.profile(
                target, sections=plan.sections, metrics=plan.metrics, output=output / "wide"
            )
        except MeasurementError as problem:
            self._wide.refused(problem)
            return None
        self._wide.took(job, time.monotonic() - began)
        return report

    def _sanitize(self, job: Sanitize, machine: Machine) -> Result:
        from kbs_backends.profilers import Target
        from kbs_backends.sanitizer import sanitize

        self._workdir.mkdir(parents=True, exist_ok=True)
        output = Path(tempfile.mkdtemp(prefix="sanitize-", dir=self._workdir))
        target = Target(
            argv=(*self.command(job.source, job.task, machine), "--zero-scratch"),
            cwd=str(output),
            env=child_environment(),
        )
        return _result(job, msgspec.to_builtins(sanitize(target, job.tools, ahead=self._ahead)))

    def command(self, source: SourceRef, task: Task, machine: Machine) -> tuple[str, ...]:
        """The program that makes exactly one call of the candidate in a profiler range."""
        out = [
            *PROGRAM, str(self._static.file(source)), str(self._static.reference(task)),
            json.dumps(task.dims), "--language", source.language, "--gpu", str(self._gpu),
        ]  # fmt: skip
        if source.language in ("cuda-cpp", "cutlass"):
            built = self._static.library(source, machine.arch, task)
            if not isinstance(built, Path):
                raise MeasurementError(
                    f"{source.name} does not compile", remedy="`kbs check` shows the error"
                )
            out += ["--artifact", str(built)]
        if task.setup is not None:
            out += ["--setup", str(self._static.file(task.setup))]
        for name in task.outputs:
            out += ["--output", name]
        if task.ptr_size is not None:
            out += ["--ptr-size", str(task.ptr_size)]
        return tuple(out)


def _result(job: Job, value: dict[str, object]) -> Result:
    return Result(job_key=job.key, kind=str(job.__struct_config__.tag), value=value)
