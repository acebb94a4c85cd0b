"""state.json: where a run stands. One writer, replaced whole, schema versioned."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kbs_engine.run.settings import IsaTarget, Settings
from kbs_engine.vocabulary import Bound, Dtype, Limiter, Verdict

SCHEMA_VERSION = 1

VersionStatus = Literal["open", "accepted", "failed", "refused"]
"""Open: being measured; accepted: its gate passed; failed: no branch was ever correct; refused:
its gate refused it, nothing mended it, and it was given up."""
EndReason = Literal[
    "", "near_peak", "target_reached", "no_method_left", "iterations_done", "budget_spent",
    "stopped", "environment",
]  # fmt: skip


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a run under one set of constraints; nothing is compared across."""

    number: int
    first_version: int
    settings: Settings
    reason: str = ""
    began_at: str = ""


class MethodVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a method in a version."""

    version: int
    method: str
    verdict: Verdict
    gain: float | None = None
    """Share of time that the method returned: 1 − t_with / t_without."""
    gain_low: float | None = None
    gain_high: float | None = None


class VersionEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One version in the state: identity and headline; the details stand in its folder."""

    version: int
    base_version: int | None = None
    """The version that its source was made from; None for v0."""
    epoch: int = 0
    status: VersionStatus = "open"
    sha256: str = ""
    median_ns: float | None = None
    """Device time of the champion's own measurement; None while not measured."""
    speedup_v0: float | None = None
    speedup_v0_low: float | None = None
    speedup_v0_high: float | None = None
    methods: tuple[str, ...] = ()
    tries: int = 0
    commit: str = ""
    refusal: str = ""
    """Why its gate refused it for good; empty for all that count."""


class RooflinePoint(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the bottleneck drift."""

    version: int
    time_ns: float | None
    limiter: Limiter
    algorithm_bound: Bound
    gap: float | None = None
    gap_memory: float | None = None
    gap_compute: float | None = None
    gap_latency: float | None = None
    dominant_stall: str = ""


class FrontierEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A losing branch, kept: correct and slower, or what made it fail."""

    version: int
    branch: str
    sha256: str
    median_ns: float | None = None
    tunables: dict[str, Any] = msgspec.field(default_factory=dict)
    reason: str = ""
    """Why it lost: ``slower by 4.1 %``, a refusal code, ``does not fit``."""


class ToleranceUsed(msgspec.Struct, frozen=True, kw_only=True):
    """What `check` really compared with, and where it came from."""

    atol: float | None = None
    rtol: float | None = None
    source: str = ""
    """``command line``, ``reference`` or ``derived from fp16, reduction of 4096``."""

    @property
    def atol_times_rms(self) -> bool:
        """Whether atol is in units of the root mean square of each output: where it is derived."""
        return self.source.startswith(("derived", "atol: derived"))

    def __str__(self) -> str:
        """As a person reads it."""
        unit = " × rms of the output" if self.atol_times_rms else ""
        shares = ((self.atol, "atol", unit), (self.rtol, "rtol", ""))
        told = ", ".join(f"{name} {v:.3g}{unit}" for v, name, unit in shares if v is not None)
        return f"{told} ({self.source})" if told and self.source else told


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that `resume` needs beside the files of the versions."""

    schema_version: int = SCHEMA_VERSION
    run_id: str
    name: str
    """The baseline kernel's file name without its suffix."""
    created_at: str
    kbs_version: str = ""
    settings: Settings
    epoch: int = 0
    epochs: tuple[Epoch, ...] = ()
    reference_sha256: str
    baseline_sha256: str
    baseline_file: str = ""
    dtype: Dtype | None = None
    """Of the task, as its work was counted."""
    tolerance: ToleranceUsed | None = None
    """Of this epoch's checks; None before the first."""
    current_version: int = 0
    """The version being worked on; current_iteration.txt is the last that its gate moved to."""
    best_version: int = 0
    best_ns: float | None = None
    versions: tuple[VersionEntry, ...] = ()
    verdicts: tuple[MethodVerdict, ...] = ()
    roofline_history: tuple[RooflinePoint, ...] = ()
    frontier: tuple[FrontierEntry, ...] = ()
    isa_targets: tuple[IsaTarget, ...] = ()
    gpu_seconds_used: float = 0.0
    ended: EndReason = ""
    loop: dict[str, Any] = msgspec.field(default_factory=dict)
    """The state machine's own part, as builtins."""

    def version(self, number: int) -> VersionEntry | None:
        """The entry of a version, or None."""
        return next((entry for entry in self.versions if entry.version == number), None)

    def version_of(self, sha256: str, *, epoch: int, before: int | None = None) -> int | None:
        """The first version of ``epoch``, or v0, whose very kernel this is; None for a new one.

        Kernels of other epochs may be tried again: nothing is compared across. ``before`` leaves
        out a version and those after it.
        """
        known = (row for row in self.versions if row.epoch == epoch or row.version == 0)
        found = (row.version for row in known if row.sha256 and row.sha256 == sha256)
        return next((number for number in found if before is None or number < before), None)

    def measured_again(self, entry: VersionEntry) -> int | None:
        """The version of an earlier epoch whose very source this one is; None for its own."""
        for number in (entry.base_version, 0):
            other = None if number is None else self.version(number)
            if other and other.epoch < entry.epoch and entry.sha256 == other.sha256:
                return other.version
        return None

    @property
    def improved(self) -> bool:
        """Whether some accepted version is faster than v0 beyond the noise threshold.

        v0's own kernel, measured again in a later epoch, never is.
        """
        best = self.version(self.best_version)
        if best is None or best.speedup_v0_low is None or best.sha256 == self.baseline_sha256:
            return False
        return best.speedup_v0_low > 1.0 + self.settings.noise

    def methods_with(self, *verdicts: Verdict) -> tuple[str, ...]:
        """Methods that ended with one of these verdicts, in order, once each."""
        found = (row.method for row in self.verdicts if row.verdict in verdicts)
        return tuple(dict.fromkeys(found))


def with_version(state: State, entry: VersionEntry) -> State:
    """The state with ``entry`` put in or replaced, versions in order."""
    rest = [other for other in state.versions if other.version != entry.version]
    versions = tuple(sorted((*rest, entry), key=lambda row: row.version))
    return msgspec.structs.replace(state, versions=versions)
