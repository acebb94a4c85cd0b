"""Running attacks and twins on a device, and saying how they ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.blobs import BlobStore
from kbs_engine.jobs import Check, Sanitize, SourceRef, Task, Time, TimingSettings
from kbs_engine.ports import Device
from kbs_engine.results import ArmTimes, Checked, Sanitized, Timed, read
from kbs_engine.timing import compare, summary
from tests.attacks.manifest import TASKS, TWINS, Attack, kernel

SETTINGS = TimingSettings(trials=20, warmup_calls=4, warmup_ms=1.0)
FASTER_ON_HOST = 0.5
"""The host's clock is noisy: a trick that pays shows as a multiple, not as some percent."""

TIGHT: dict[str, Any] = {
    "load_s": 60.0, "idle_s": 3.0, "call_s": 5.0, "memory_bytes": 512 << 20, "file_bytes": 64 << 20,
    "folder_bytes": 128 << 20, "children": 8,
}  # fmt: skip
"""Small limits, so that an attack on resources ends soon."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How an attack or a twin ended."""

    code: str
    """A reason code; ``accepted`` when nothing refused it."""
    by: str = ""
    """The job that refused it."""
    detail: str = ""
    ratio: float | None = None
    """Speedup over the honest twin, where both were timed together."""
    low: float | None = None
    faster: bool = False
    cold_ms: float | None = None
    calls: int = 0
    median_us: float | None = None


class Bench:
    """A device with the blobs that its jobs name."""

    def __init__(self, device: Device, blobs: BlobStore, *, noise: float = FASTER_ON_HOST) -> None:
        self.device, self.blobs, self.noise = device, blobs, noise

    def source(self, path: Path) -> SourceRef:
        """A kernel by content."""
        language = "cuda-cpp" if path.suffix == ".cu" else "triton"
        sha256 = self.blobs.put(path.read_bytes())
        return SourceRef(sha256=sha256, language=language, name=path.name)

    def task(self, name: str, dims: Mapping[str, Any]) -> Task:
        """A task by name."""
        reference = self.blobs.put((TASKS / f"{name}.py").read_bytes())
        return Task(reference_sha256=reference, dims=dict(dims))

    def run(self, attack: Attack) -> Outcome:
        """Check, then time beside the first honest twin of its task; the first refusal counts."""
        task = self.task(attack.task, attack.dims)
        source = self.source(attack.path)
        beside = attack.beside or ("in_place" if attack.task == "silu_bias" else "")
        honest = self.source(kernel(TWINS, beside)) if attack.honest and beside else None
        if attack.sanitize:
            return self._sanitized(source, task)
        return self.judge(source, task, job=attack.job, beside=honest, may_fail=attack.failure)

    def _sanitized(self, source: SourceRef, task: Task) -> Outcome:
        found = read(self.device.submit(Sanitize(source=source, task=task)).result(), Sanitized)
        if found.clean is None:
            return Outcome(code="not run", by="sanitize", detail=found.tools[0].detail)
        return Outcome(code="accepted" if found.clean else "sanitizer_fault", by="sanitize")

    def run_twin(self, stem: str, task: str, dims: Mapping[str, Any] | None = None) -> Outcome:
        """An honest kernel: it must be accepted."""
        return self.judge(self.source(kernel(TWINS, stem)), self.task(task, dims or {}))

    def judge(
        self,
        source: SourceRef,
        task: Task,
        *,
        job: str = "both",
        beside: SourceRef | None = None,
        may_fail: bool = False,
    ) -> Outcome:
        """How one source ends on one task."""
        if job != "time":
            result = self.device.submit(Check(source=source, task=task)).result()
            if may_fail and result.failure is not None:
                return Outcome(code="task_empty", by="task", detail=result.failure)
            checked = read(result, Checked)
            if checked.reason is not None:
                return Outcome(code=checked.reason, by="check", detail=checked.detail[:200])
        if job == "check":
            return Outcome(code="accepted")
        arms = (source,) if beside is None else (source, beside)
        result = self.device.submit(Time(arms=arms, task=task, settings=SETTINGS)).result()
        return self._timed(read(result, Timed))

    def _timed(self, timed: Timed) -> Outcome:
        arm: ArmTimes = timed.arms[0]
        if arm.reason is not None:
            return Outcome(code=arm.reason, by="time", detail=arm.detail[:200])
        cold = None if arm.cold_first_call_ns is None else arm.cold_first_call_ns / 1e6
        outcome = Outcome(
            code="accepted", cold_ms=cold, calls=len(arm.samples_ns),
            median_us=summary(arm.samples_ns).median_ns / 1e3,
        )  # fmt: skip
        if len(timed.arms) == 1 or timed.arms[1].reason is not None:
            return outcome
        found = compare(timed, 0, 1, noise=self.noise)
        return msgspec.structs.replace(
            outcome, ratio=found.ratio, low=found.low, faster=found.verdict == "faster"
        )


def failure_of(attack: Attack, outcome: Outcome, *, on_cuda: bool = False) -> str | None:
    """Why this outcome is not what the manifest promises; None when it is."""
    honest = attack.honest or (on_cuda and attack.honest_on_cuda)
    if outcome.code != "accepted":
        if outcome.code in attack.codes:
            return None
        return f"refused as {outcome.code} ({outcome.detail}), not as {', '.join(attack.codes)}"
    if not honest:
        return f"accepted; it must be refused as {' or '.join(attack.codes)}"
    return _dishonest_cost(attack, outcome)


def _dishonest_cost(attack: Attack, outcome: Outcome) -> str | None:
    if outcome.faster:
        return f"measured {outcome.ratio:.2f} times as fast as its honest twin"
    if attack.between_us is not None:
        low, high = attack.between_us
        if not low <= (outcome.median_us or 0.0) <= high:
            return f"measured at {outcome.median_us} µs, which is known to take {low} to {high}"
    if attack.cold_ms is not None and (outcome.cold_ms or 0.0) < attack.cold_ms:
        return f"a first call of {outcome.cold_ms} ms is not told"
    return None
