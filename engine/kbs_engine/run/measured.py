"""What was measured of a version: bench.json, static.json, ncu_top.json, env.json."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kbs_engine.jobs import Result, TimingSettings
from kbs_engine.results import (
    ArmTimes,
    Checked,
    CompileMessage,
    KernelResources,
    Machine,
    Profiled,
    Timed,
)
from kbs_engine.results import read as read_result
from kbs_engine.run.settings import RunMode
from kbs_engine.vocabulary import MethodAxis

SCHEMA_VERSION = 1

ComparisonVerdict = Literal["faster", "slower", "within noise"]


class ArmSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Stated times of one arm; the gate computes them again from the raw samples."""

    name: str
    sha256: str = ""
    """Empty for a library baseline."""
    median_ns: float
    mean_ns: float
    p20_ns: float
    p80_ns: float
    min_ns: float
    max_ns: float
    std_ns: float
    count: int


class StatedComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A stated comparison: how many times faster ``a`` is than ``b`` (ratio = t_b / t_a)."""

    a: str
    b: str
    ratio: float
    low: float
    high: float
    verdict: ComparisonVerdict
    noise: float
    smallest_detectable: float | None = None


class ExternalTiming(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a team's own driver. Labelled, and never deciding alone."""

    command: str
    value: float
    unit: str
    label: str = "external"


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """bench.json of a version, a branch or an ablation; also benchmark.json of the final run.

    ``blocks`` are the answers of the Time jobs and ``checks`` those of the Check jobs exactly as
    the device gave them: the hash of each stands in the journal.
    """

    schema_version: int = SCHEMA_VERSION
    version: int
    name: str
    """``champion``, ``b0`` …, ``no_<method>``, ``final``."""
    source_sha256: str
    tunables: dict[str, Any] = msgspec.field(default_factory=dict)
    switches: dict[str, bool] = msgspec.field(default_factory=dict)
    correct: bool
    reason: str | None = None
    """When not correct: a code of ``kbs_engine.refusals``, ``not_checked`` or ``job_failed``."""
    detail: str = ""
    settings: TimingSettings = TimingSettings()
    arms: tuple[ArmSummary, ...] = ()
    comparisons: tuple[StatedComparison, ...] = ()
    blocks: tuple[Result, ...] = ()
    checks: tuple[Result, ...] = ()
    sanitized: tuple[Result, ...] = ()
    external: tuple[ExternalTiming, ...] = ()

    def __post_init__(self) -> None:
        """An incorrect kernel has a reason and claims no comparison."""
        if self.correct == (self.reason is not None):
            raise ValueError("a bench has a reason exactly when the kernel is not correct")
        if not self.correct and self.comparisons:
            raise ValueError("no comparison stands without a passed correctness verdict")

    def timed(self) -> Timed | None:
        """All timing blocks as one, process pairs numbered through; None without any."""
        return merge_timed([read_result(block, Timed) for block in self.blocks if block.value])

    def checked(self) -> Checked | None:
        """The last check, or None."""
        found = [read_result(check, Checked) for check in self.checks if check.value]
        return found[-1] if found else None

    def arm(self, name: str) -> ArmSummary | None:
        """The stated times of an arm by its name or source hash."""
        return next((arm for arm in self.arms if name in (arm.name, arm.sha256)), None)

    def comparison(self, a: str, b: str) -> StatedComparison | None:
        """The stated comparison of two arms."""
        return next((row for row in self.comparisons if (row.a, row.b) == (a, b)), None)

    def own(self) -> ArmSummary | None:
        """The stated times of the kernel that this bench is about."""
        return next((arm for arm in self.arms if arm.sha256 == self.source_sha256), None)


def merge_timed(blocks: list[Timed]) -> Timed | None:
    """Several answers over the same arms as one; None when there is none.

    Arms are matched by (name, hash), so blocks of a race with fewer arms left fit too.
    """
    if len(blocks) < 2:  # noqa: PLR2004 - nothing to merge
        return blocks[0] if blocks else None
    order = list(dict.fromkeys((arm.name, arm.sha256) for block in blocks for arm in block.arms))
    merged: dict[tuple[str, str], ArmTimes] = {}
    first = 0
    for block in blocks:
        for arm in block.arms:
            key = (arm.name, arm.sha256)
            shifted = msgspec.structs.replace(
                arm, process=tuple(number + first for number in arm.process)
            )
            merged[key] = _joined(merged[key], shifted) if key in merged else shifted
        first += 1 + max((n for arm in block.arms for n in arm.process), default=0)
    spent = [block.gpu_time_s for block in blocks]
    return msgspec.structs.replace(
        blocks[0],
        arms=tuple(merged[key] for key in order),
        verified=all(block.verified for block in blocks),
        clocks_after_mhz=blocks[-1].clocks_after_mhz,
        gpu_time_s=sum(s for s in spent if s is not None) if any(spent) else None,
        warnings=tuple(dict.fromkeys(w for block in blocks for w in block.warnings)),
    )


def _joined(one: ArmTimes, two: ArmTimes) -> ArmTimes:
    """Samples of two blocks of one arm; the first refusal stays."""
    fields = ("samples_ns", "process", "position", "host_ns")
    joined = {name: (*getattr(one, name), *getattr(two, name)) for name in fields}
    return msgspec.structs.replace(
        one, **joined, reason=one.reason or two.reason, detail=one.detail or two.detail
    )


class Static(msgspec.Struct, frozen=True, kw_only=True):
    """static.json of a branch: what the compiler says, before any GPU is used."""

    schema_version: int = SCHEMA_VERSION
    name: str
    source_sha256: str
    arch: str
    compiled: bool
    compiler: str = ""
    messages: tuple[CompileMessage, ...] = ()
    resources: tuple[KernelResources, ...] = ()
    occupancy: float | None = None
    """Theoretical share (0–1) of the warps of a unit; None where it cannot be computed."""
    occupancy_limited_by: str = ""
    dropped: str = ""
    """Why the branch was dropped without being run; empty when it was kept."""


class TopMetric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric worth looking at."""

    metric: str
    value: float
    unit: str
    kernel: str = ""
    why: str = ""


class NcuTop(msgspec.Struct, frozen=True, kw_only=True):
    """ncu_top.json: the top metrics of each axis, and whose profile it is."""

    schema_version: int = SCHEMA_VERSION
    version: int
    source_sha256: str
    mode: RunMode
    report_sha256: str = ""
    ncu_num: int = 5
    axes: dict[MethodAxis, tuple[TopMetric, ...]] = msgspec.field(default_factory=dict)
    profile: Result | None = None
    """The answer of the Profile job as the device gave it."""
    second: Result | None = None
    """That of the second pass, where the first left rivals among the leading causes."""

    def profiled(self) -> Profiled | None:
        """The decoded answer of the Profile job."""
        if self.profile is None or self.profile.value is None:
            return None
        return read_result(self.profile, Profiled)


class EnvFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One part of the environment: what was found, what its lack costs, how to get it."""

    part: str
    state: Literal["ok", "missing", "failed", "not_tried"]
    detail: str = ""
    costs: str = ""
    remedy: str = ""
    required: bool = False


class Env(msgspec.Struct, frozen=True, kw_only=True):
    """env.json: the machine of the run."""

    schema_version: int = SCHEMA_VERSION
    date: str
    machine: Machine | None = None
    findings: tuple[EnvFinding, ...] = ()
    packages: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether everything required is there."""
        return all(row.state == "ok" for row in self.findings if row.required)
