"""A stand-in for a GPU with counters: real compilers, a real report, times of plain numbers.

For the wiring alone: nothing that it says is a measurement, and no test reads it as one.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from kbs_backends.device import LocalDevice
from kbs_backends.languages import CompileCache
from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import (
    Check,
    Compile,
    Count,
    Disassemble,
    Job,
    Probe,
    ProfileJob,
    Provenance,
    Result,
    Sanitize,
    Time,
)
from kbs_engine.results import (
    ArmTimes,
    Checked,
    Counted,
    Machine,
    Profiled,
    Round,
    Sanitized,
    Timed,
    ToolVerdict,
)
from kbs_engine.work import Work

H100 = "NVIDIA H100 80GB HBM3"


class StandIn:
    """Answers every job; ``speed`` says the time in ns of a source."""

    cache: Path | None = None
    """Where compiled kernels stay; None: with this device, and gone with it."""

    def __init__(self, blobs: BlobStore, report: Path) -> None:
        self.blobs = blobs
        self.report = blobs.put(report.read_bytes())
        self.report_name = report.name
        self.static = LocalDevice(blobs, kind="host")
        if self.cache is not None:
            self.static._static._cache = CompileCache(self.cache)

    def expect_many(self, widest: object = None) -> None:
        """A run's jobs will come; nothing is started ahead of them."""

    def submit(self, job: Job) -> Future[Result]:
        if isinstance(job, (Compile, Disassemble)):
            return self.static.submit(job)
        future: Future[Result] = Future()
        future.set_result(
            Result(
                job_key=job.key,
                kind=str(job.__struct_config__.tag),
                value=msgspec.to_builtins(self._value(job)),
                provenance=Provenance(device="cuda", gpu=H100, date="2026-01-05T10:00:00+00:00"),
            )
        )
        return future

    def close(self) -> None:
        self.static.close()

    def _value(self, job: Job) -> Any:  # noqa: PLR0911 - one a kind
        if isinstance(job, Probe):
            return Machine(device="cuda", gpu=H100, arch="sm_90a", counters=True, unit_count=132)
        if isinstance(job, Count):
            work = Work(kernel="softmax", dtype="fp32", bytes_in=6.7e7, bytes_out=6.7e7)
            return Counted(work=work, flops_from="unknown", bytes_from="declared")
        if isinstance(job, Check):
            wrong = "forgets" in self.blobs.text(job.source.sha256)
            if wrong:
                return Checked(passed=False, reason="wrong_result", detail="all of it")
            one = Round(distribution="normal", compared_elements=16, ok=True)
            return Checked(passed=True, rounds=(one,) * job.rounds, atol=1e-6, rtol=1e-5)
        if isinstance(job, Sanitize):
            return Sanitized(tools=(ToolVerdict(tool="memcheck", ran=False, detail="not here"),))
        if isinstance(job, ProfileJob):
            return Profiled(mode="ncu", report_sha256=self.report, report_name=self.report_name)
        assert isinstance(job, Time)
        return self._timed(job)

    def _timed(self, job: Time) -> Timed:
        rng = np.random.default_rng(int(job.key[:8], 16))
        count = job.settings.trials - job.settings.discard_first
        arms = []
        for arm in job.arms:
            sha256 = getattr(arm, "sha256", "")
            base = self.speed(self.blobs.text(sha256)) if sha256 else 70_000.0
            pairs = range(job.fresh_processes)
            samples = [base * (1 + 0.003 * rng.standard_normal(count)) for _ in pairs]
            arms.append(
                ArmTimes(
                    name=arm.name,
                    sha256=sha256,
                    samples_ns=tuple(float(v) for block in samples for v in block),
                    process=tuple(p for p in pairs for _ in range(count)),
                    position=tuple(i for _ in pairs for i in range(count)),
                )
            )
        return Timed(arms=tuple(arms), timer="cuda_event", gpu_time_s=0.1 * len(arms))

    def speed(self, text: str) -> float:
        """Time of a source, ns."""
        raise NotImplementedError
