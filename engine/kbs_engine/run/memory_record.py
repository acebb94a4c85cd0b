"""memory/v<N>.json: what a version taught, as a record that can be masked.

The fields are those of ``v_iteration.schema.json`` of alibaba/atrex-kernel-agent, so its
files are read as they are.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

SCHEMA_VERSION = 1
OPEN_DIRECTIONS = 3
"""At most so many open directions: a longer list is a wish list."""


class Performance(msgspec.Struct, frozen=True, kw_only=True):
    """Times and rates of a version. None was not measured; shares are percent 0–100."""

    latency_us: float | None = None
    tflops: float | None = None
    bandwidth_gbps: float | None = None
    compute_peak_utilization_pct: float | None = None
    bandwidth_peak_utilization_pct: float | None = None
    comparison_with_previous: str = ""
    latency_us_by_shape: dict[str, float] = msgspec.field(default_factory=dict)


class Optimization(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    action_category: str = ""
    action_description: str = ""
    expected_impact: str = ""
    risks_and_rollback: str = ""


class ProfileEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """On what it rests."""

    tool_used: str = ""
    evidence_summary: str = ""
    bottleneck_type: str = ""
    evidence_chain: tuple[str, ...] | str = ()


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """One method tried and what came of it."""

    method: str = ""
    change: str = ""
    result: str = ""
    verdict: str = ""
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None
    lesson: str = ""


class Experience(msgspec.Struct, frozen=True, kw_only=True):
    """Experiments of a version."""

    experiments: tuple[Experiment, ...] = ()


class Correctness(msgspec.Struct, frozen=True, kw_only=True):
    """Largest relative error and whether the check passed."""

    rel_err: float | None = None
    status: Literal["PASS", "FAIL", "not run", ""] = "not run"


class QualityGate(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate said."""

    result: Literal["PASS", "FAIL", "not run", ""] = "not run"
    failure_reason: str = ""


class IsaProgress(msgspec.Struct, frozen=True, kw_only=True):
    """One target of the machine code: where it stood, where it stands, where it should be."""

    metric: str = ""
    before: str = ""
    now: str = ""
    target: str = ""
    status: str = ""


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """One look-up and what it was good for."""

    source: str = ""
    query: str = ""
    finding: str = ""
    actionability: str = ""


class Pitfall(msgspec.Struct, frozen=True, kw_only=True):
    """What went wrong or was missing, and what was done about it."""

    problem: str = ""
    fix: str = ""


class MemoryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """memory/v<N>.json. A masked record is discarded: nothing may be planned from it."""

    schema_version: int = SCHEMA_VERSION
    version: int
    masked: bool = False
    timestamp: str = ""
    performance: Performance = Performance()
    optimization: Optimization = Optimization()
    profile_evidence: ProfileEvidence = ProfileEvidence()
    experience: Experience = Experience()
    correctness: Correctness = Correctness()
    isa_metric_progress: tuple[IsaProgress, ...] = ()
    search_log: tuple[Search, ...] = ()
    pitfalls_and_fixes: tuple[Pitfall, ...] = ()
    references: tuple[str, ...] = ()
    quality_gate: QualityGate = QualityGate()
    open_directions: tuple[str, ...] = ()
    git_commit_hash: str = ""
    extra: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Version numbers start at 0; open directions are few."""
        if self.version < 0:
            raise ValueError(f"versions start at 0, got {self.version}")
        if len(self.open_directions) > OPEN_DIRECTIONS:
            raise ValueError(
                f"{len(self.open_directions)} open directions; keep the best {OPEN_DIRECTIONS}"
            )
