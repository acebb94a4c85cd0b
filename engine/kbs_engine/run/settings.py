"""What stays fixed for a run, and the few limits that may be extended."""

from __future__ import annotations

import math
from typing import Any, Final, Literal

import msgspec

from kbs_engine.jobs import (
    MOST_CHECK_ROUNDS,
    MOST_PROCESS_PAIRS,
    BaselineName,
    TimingSettings,
)
from kbs_engine.vocabulary import Dtype, Family, Language

AttributionMode = Literal["loo", "factorial"]
ProposerName = Literal["builtin", "agent", "command"]
RunMode = Literal["counters", "counter-free"]
DeviceKind = Literal["cuda", "host", "recorded"]
Proof = Literal["together", "apart"]


class Placeholder(msgspec.Struct, frozen=True, kw_only=True):
    """A value that the wiki lacks and a person stood in for. Never called a spec."""

    metric: str
    value: float
    unit: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """Marked wherever it is shown."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.metric}: {self.value:.12g}{unit} (PLACEHOLDER, given by the user)"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """An absolute stop condition of the run."""

    kind: Literal["time", "bandwidth", "throughput", "share_of_model"]
    value: float
    unit: Literal["ns", "B/s", "FLOP/s", "share"]
    because: str = ""
    """From which sourced numbers it was computed; cites them."""

    def reached(self, *, time_ns: float, bytes_min: float | None, flops: float | None,
                model_ns: float | None) -> bool:  # fmt: skip
        """Whether a version of this time (ns) reaches it; False where it cannot be told.

        Bandwidth and throughput are compulsory bytes and FLOPs over time; the share is
        t_model / t.
        """
        if time_ns <= 0:
            return False
        if self.kind == "time":
            return time_ns <= self.value
        work = {"bandwidth": bytes_min, "throughput": flops, "share_of_model": model_ns}[self.kind]
        if work is None:
            return False
        scale = 1.0 if self.kind == "share_of_model" else 1e9
        return work * scale / time_ns >= self.value


class IsaTarget(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine code should come to: an opcode, a register count, no spills."""

    what: str
    """``opcode LDG.E.128``, ``registers per thread``, ``spill bytes``."""
    target: str
    because: str = ""


LIMITS: Final[dict[str, tuple[int, int]]] = {
    "iterations": (0, 1_000_000), "branches": (1, 64), "slots": (1, 6), "axis_cap": (1, 6),
    "retries": (0, 20), "check_rounds": (1, MOST_CHECK_ROUNDS),
    "process_pairs": (1, MOST_PROCESS_PAIRS), "ncu_num": (1, 50),
}  # fmt: skip
"""Least and most of the settings that are counts; orders add to the iterations of a beginning."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a run. All but ``iterations`` are fixed within an epoch (loop.md)."""

    language: Language
    dims: dict[str, int | float | str | bool]
    kernel_suffix: str
    """``.cu`` or ``.py``: every version is ``kernel`` + this."""
    atol: float | None = None
    rtol: float | None = None
    tolerance_from: str = ""
    seed_policy: Literal["secret", "fixed"] = "secret"
    """Secret: the device draws new seeds for every check. Fixed is for debugging alone."""
    check_rounds: int = 10
    outputs: tuple[str, ...] = ()
    permitted: tuple[Dtype, ...] = ()
    dtype: Dtype | None = None
    family: Family = "other"
    ptr_size: int | None = None
    timing: TimingSettings = TimingSettings()
    process_pairs: int = 3
    """Fresh process pairs of a claim; races and ablations may use fewer."""
    baselines: tuple[BaselineName, ...] = ("pytorch-eager",)
    device: str = "auto"
    """What ``open_device`` was asked for."""
    device_kind: DeviceKind = "cuda"
    gpu: str = ""
    gpu_uuid: str = ""
    platform: str = ""
    """The product that targets are for; empty is the local GPU."""
    chip: str = ""
    """Its wiki id, ``h100_sxm``."""
    arch: str = ""
    mode: RunMode = "counters"
    noise: float = 0.02
    """Share of time within which two versions are not told apart."""
    iterations: int = 3
    branches: int = 4
    slots: int = 3
    """Methods per iteration; 1 is the one-change mode."""
    axis_cap: int = 2
    retries: int = 3
    ncu_num: int = 5
    """Metrics per axis in ncu_top.json."""
    attribution: AttributionMode = "loo"
    proof: Proof | msgspec.UnsetType = msgspec.UNSET
    """Together: one timing proves a champion and ablates it. Apart, which is not written: runs of
    before keep their bytes, and with them the keys of what was asked."""
    proposer: ProposerName = "builtin"
    proposer_command: str = ""
    proposer_timeout_s: float = 600.0
    external_benchmark: str = ""
    gpu_seconds: float | None = None
    """Budget of GPU time for the whole run; None is no limit."""
    target: Target | None = None
    placeholders: tuple[Placeholder, ...] = ()
    reference_project: str = ""
    notes: str = ""
    extra: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Limits that make no sense are refused here, once."""
        if not 0.0 <= self.noise < 1.0:
            raise ValueError(f"noise is a share of time, got {self.noise}")
        for name in ("atol", "rtol"):
            if (getattr(self, name) or 0.0) < 0.0:
                raise ValueError(f"{name} is no less than 0, got {getattr(self, name)}")
        for name, (low, high) in LIMITS.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name} is {low} to {high}, got {getattr(self, name)}")
        for name in ("proposer_timeout_s", "gpu_seconds"):
            seconds = getattr(self, name)
            if seconds is not None and not 0.0 < seconds < math.inf:
                raise ValueError(f"{name} is a time above 0, got {seconds}")
        if self.timing.method == "do_bench":
            raise ValueError("timing.method do_bench is for `kbs bench`, no run is timed by it")

    @property
    def one_change(self) -> bool:
        """Whether an iteration may change one method alone."""
        return self.slots == 1

    @property
    def together(self) -> bool:
        """Whether the timing that proves a champion holds its first ablations too."""
        return self.proof == "together"

    @property
    def kernel_file(self) -> str:
        """The name of the kernel in every version folder."""
        return f"kernel{self.kernel_suffix}"


EXTENSIBLE: frozenset[str] = frozenset({"iterations", "gpu_seconds", "notes", "target", "extra"})
"""Settings that may change without a new epoch: they change no measurement."""


def changed_fixed(before: Settings, after: Settings) -> tuple[str, ...]:
    """Names of the fixed settings in which two settings differ, sorted."""
    names = sorted(set(Settings.__struct_fields__) - EXTENSIBLE)
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))
