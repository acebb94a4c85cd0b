"""What a method did on a kernel: the unit of experience."""

from __future__ import annotations

import msgspec

from kbs_engine.vocabulary import Dtype, Family, Language, Limiter, Verdict

SCHEMA_VERSION = 1


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One measured outcome. No speed-up stands without a passed correctness verdict."""

    method: str
    verdict: Verdict
    kernel: Family
    language: Language
    chip: str
    arch: str
    limiter: Limiter = "unknown"
    dtype: Dtype | None = None
    dims_class: str = ""
    correct: bool
    integrity: bool
    gain: float | None = None
    """Share of time returned: 1 − after/before; negative when slower."""
    gain_low: float | None = None
    gain_high: float | None = None
    predicted_gain: tuple[float, float] | None = None
    metrics_before: dict[str, float] = msgspec.field(default_factory=dict)
    metrics_after: dict[str, float] = msgspec.field(default_factory=dict)
    source_hash: str = ""
    machine: str = ""
    origin: str = ""
    date: str = ""
    verified: bool = True
    """False for records taken over from formats without correctness and integrity verdicts."""

    def __post_init__(self) -> None:
        """Refuse a success that was not proved correct."""
        if self.verified and self.verdict == "effective" and not (self.correct and self.integrity):
            msg = f"outcome of {self.method} claims success without passed verdicts"
            raise ValueError(msg)

    @property
    def helped(self) -> bool:
        """Whether the method made the kernel faster."""
        return self.verdict == "effective"
