"""Answers of an imagined device: plausible, drawn from a seed, never called a measurement."""

from __future__ import annotations

import hashlib

import msgspec
import numpy as np

from kbs_engine.jobs import BaselineRef, Check, Job, ProfileJob, Provenance, Result, Time
from kbs_engine.results import ArmTimes, Checked, Profiled, Round, Timed

GPU = Provenance(
    device="cuda", gpu="Test GPU", gpu_uuid="GPU-test", driver="1.0", date="2025-01-01"
)
HIDDEN: dict[str, float] = {}
"""Nanoseconds a call that a source hides from the device clock."""
SPEED = {"pytorch-eager": 90_000.0}
"""Time in ns of each arm by baseline name or source hash; 100 µs for what is not named."""
REPORT = b"a report, as a profiler writes it\n"
SHA = hashlib.sha256(REPORT).hexdigest()


def seed_of(*parts: object) -> int:
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:8], 16)


def answer(job: Job, value: object) -> Result:
    return Result(
        job_key=job.key,
        kind=type(job).__struct_config__.tag,
        value=msgspec.to_builtins(value),
        provenance=GPU,
    )


def checked(job: Check, *, passed: bool = True, rounds: int | None = None) -> Result:
    rows = tuple(
        Round(
            distribution=("normal", "large offset", "tiny scale")[i % 3],
            compared_elements=4096,
            ok=passed or i > 0,
            max_abs_err=1e-6 * (i + 1),
            max_rel_err=1e-5 * (i + 1),
            eager_max_abs_err=1e-6,
            output="out",
        )
        for i in range(rounds or job.rounds)
    )
    value = Checked(
        passed=passed,
        reason=None if passed else "values",
        atol=1e-4,
        rtol=1e-3,
        tolerance_from="reference",
        rounds=rows,
        elapsed_s=0.2,
    )
    return answer(job, value)


def timed(job: Time, *, pairs: int | None = None) -> Result:
    count = job.settings.trials - job.settings.discard_first
    arms = []
    for place, arm in enumerate(job.arms):
        name = arm.name
        key = name if isinstance(arm, BaselineRef) else arm.sha256
        rng = np.random.default_rng(seed_of(key, job.block))
        centre = SPEED.get(key, 100_000.0)
        samples, process, position = [], [], []
        for pair in range(pairs or job.fresh_processes):
            values = centre * (1 + 0.004 * rng.standard_normal(count))
            samples += [float(round(v)) for v in values]
            process += [pair] * count
            # A B B A …: the places that this arm has in the interleaved order
            turn = len(job.arms)
            position += [
                i * turn + (place if i % 2 == 0 else turn - 1 - place) for i in range(count)
            ]
        arms.append(
            ArmTimes(
                name=name,
                sha256="" if isinstance(arm, BaselineRef) else key,
                samples_ns=tuple(samples),
                process=tuple(process),
                position=tuple(position),
                host_ns=tuple(v + HIDDEN.get(key, 0.0) for v in samples),
            )
        )
    value = Timed(
        arms=tuple(arms),
        timer="cuda_event",
        clocks_before_mhz={"sm": 1700.0},
        clocks_after_mhz={"sm": 1700.0},
        gpu_time_s=0.5,
    )
    return answer(job, value)


def profiled(job: ProfileJob) -> Result:
    value = Profiled(mode="ncu", report_sha256=SHA, report_name="profile.ncu-rep")
    return answer(job, value)
