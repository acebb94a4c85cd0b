"""What a method did on a kernel: the unit of experience."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import msgspec

from kbs_engine.vocabulary import Dtype, Family, Language, Limiter, Verdict

SCHEMA_VERSION = 2

_TIMES: Final = ("before_ns", "after_ns", "floor_ns", "baseline_ns")
_SHARES: Final = ("gain", "gain_low", "gain_high")


class Outcome(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="outcome"
):
    """One measured outcome. No speed-up stands without passed verdicts.

    Fields at their default are left out of the JSON, so that a field added later changes no id.
    """

    method: str
    verdict: Verdict
    kernel: Family
    language: Language
    chip: str
    arch: str
    limiter: Limiter = "unknown"
    dominant_stall: str = ""
    dtype: Dtype | None = None
    dims: dict[str, int | float | str | bool] = {}
    dims_class: str = ""
    """Dims by powers of two (``dims_class``), so that like sizes are found."""
    correct: bool
    integrity: bool
    """Whether no trick was found: see ``kbs_engine.refusals``."""
    gain: float | None = None
    """Share of time returned: 1 − after/before; negative when slower."""
    gain_low: float | None = None
    gain_high: float | None = None
    predicted_gain: tuple[float, float] | None = None
    before_ns: float | None = None
    after_ns: float | None = None
    """Median time of the kernel without and with the method."""
    floor_ns: float | None = None
    """The physics floor that the device applied."""
    baseline: str = ""
    """The fastest library baseline of the task, ``torch-compile`` for example."""
    baseline_ns: float | None = None
    flops: float | None = None
    bytes_in: float | None = None
    bytes_out: float | None = None
    """Work of the task, where it was declared or counted."""
    permitted: tuple[Dtype, ...] = ()
    """Precisions in which the task permits its arithmetic."""
    metrics_before: dict[str, float] = {}
    metrics_after: dict[str, float] = {}
    tunables: dict[str, int | float | str | bool] = {}
    """The values that were chosen, with which a later search begins."""
    together_with: tuple[str, ...] = ()
    """Other methods of the same version."""
    run: str = ""
    version: str = ""
    """The version folder, ``v3`` for example."""
    source_hash: str = ""
    """SHA-256 of the source to which the method was applied."""
    device: str = ""
    """``cuda``, ``rocm`` or ``host``; what a host measured is no claim about a GPU."""
    driver: str = ""
    versions: dict[str, str] = {}
    machine: str = ""
    origin: str = ""
    """The team or machine whose log this came from; no part of the id."""
    date: str = ""
    measurement: str = ""
    """UUID of the measurement: two equal measurements are two records."""
    verified: bool = True
    """False for records taken over from formats without correctness and integrity verdicts."""
    words: str = ""
    """What the record called the method, where it named none of the wiki."""
    notes: str = ""
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        """Refuse a success that was not proved correct, and numbers that mean nothing."""
        if self.verified and self.verdict == "effective" and not (self.correct and self.integrity):
            msg = f"outcome of {self.method} claims success without passed verdicts"
            raise ValueError(msg)
        for name in _TIMES:
            time = getattr(self, name)
            if time is not None and not 0 < time < math.inf:
                msg = f"{name} is no time: {time}"
                raise ValueError(msg)
        for name in _SHARES:
            share = getattr(self, name)
            if share is not None and not -math.inf < share < 1:
                msg = f"{name} is the share of time returned, below 1, got {share}"
                raise ValueError(msg)

    @property
    def helped(self) -> bool:
        """Whether the method made the kernel faster."""
        return self.verdict == "effective"


def with_gain(outcome: Outcome) -> Outcome:
    """The outcome as answers read it: a gain that it leaves to its two times is worked out.

    The record and its id stay as they are. Of a kernel that is wrong, times tell no gain.
    """
    before, after = outcome.before_ns, outcome.after_ns
    if outcome.gain is not None or before is None or after is None or not outcome.correct:
        return outcome
    gain = 1 - after / before
    if not -math.inf < gain < 1:  # times too far apart for a float: nothing to believe in them
        return outcome
    return msgspec.structs.replace(outcome, gain=gain)


def dims_class(dims: Mapping[str, object]) -> str:
    """Dims rounded to powers of two, by name: ``{"N": 4000, "M": 64}`` is ``M=64,N=4096``."""
    parts = []
    for name, value in sorted(dims.items()):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            parts.append(f"{name}={2 ** round(math.log2(value))}")
        else:
            parts.append(f"{name}={value}")
    return ",".join(parts)
