"""Which cited peaks a task may use."""

from __future__ import annotations

from typing import Final

from kbs_engine.facts import Chip, Spec
from kbs_engine.roofs import Roof
from kbs_engine.work import Work

_HIGHER: Final[dict[str, tuple[str, ...]]] = {
    "fp4": ("fp6", "fp8", "fp16", "bf16", "fp32", "fp64"),
    "fp6": ("fp8", "fp16", "bf16", "fp32", "fp64"),
    "fp8": ("fp16", "bf16", "fp32", "fp64"),
    "fp16": ("fp32", "fp64"),
    "bf16": ("fp32", "fp64"),
    "tf32": ("fp32", "fp64"),
    "fp32": ("fp64",),
    "int4": ("int8", "int32"),
    "int8": ("int32",),
}
"""A task that permits a precision permits every more precise one too."""


def spec_dtype(dtype: str) -> str:
    """The dtype word that hardware metrics use: both fp8 formats share one peak."""
    return "fp8" if dtype.startswith("fp8") else dtype


def permitted_dtypes(work: Work) -> tuple[str, ...]:
    """All precisions in which the task's arithmetic may run, the declared ones first."""
    declared = [spec_dtype(dtype) for dtype in work.precisions]
    higher = [more for dtype in declared for more in _HIGHER.get(dtype, ())]
    return tuple(dict.fromkeys([*declared, *higher]))


def _at_clock(spec: Spec, clock_hz: float | None) -> tuple[float, float | None]:
    value = spec.base_value or 0.0
    if clock_hz is None or spec.basis.clock_hz is None:
        return value, None
    return value * clock_hz / spec.basis.clock_hz, clock_hz


def compute_roof(chip: Chip, work: Work, *, clock_hz: float | None) -> Roof | None:
    """The fastest dense pipe that the task permits, at the clock that ran.

    Time is flops / (ops/clock/unit × units × clock), which equals the cited peak scaled from
    the clock of its basis. None when the work or every permitted peak is unknown.
    """
    if work.flops is None:
        return None
    best: Roof | None = None
    for dtype in permitted_dtypes(work):
        metrics = [f"peak_{dtype}_tensor"] if work.is_matrix else []
        for metric in [*metrics, f"peak_{dtype}"]:
            roof = _compute_candidate(chip, metric, work.flops, clock_hz)
            if roof is not None and (best is None or roof.value > best.value):
                best = roof
    return best


def _compute_candidate(
    chip: Chip, metric: str, flops: float, clock_hz: float | None
) -> Roof | None:
    spec = chip.find(metric)
    if spec is None or not spec.base_value:
        return None
    value, clock = _at_clock(spec, clock_hz)
    return Roof(
        kind="compute",
        basis="cited",
        metric=metric,
        value=value,
        unit="FLOP/s",
        time_ns=flops / value * 1e9,
        clock_hz=clock,
        cited_value=spec.base_value,
        citation=spec.cite(chip.name),
        grade=spec.grade or "",
    )


def measured_compute_roof(chip: Chip, cited: Roof, flops: float) -> Roof | None:
    """The measured ceiling of the pipe that ``cited`` names, or None when nobody measured it."""
    spec = chip.find(cited.metric, measured=True)
    if spec is None or not spec.base_value:
        return None
    return Roof(
        kind="compute",
        basis="measured",
        metric=cited.metric,
        value=spec.base_value,
        unit="FLOP/s",
        time_ns=flops / spec.base_value * 1e9,
        cited_value=spec.base_value,
        citation=spec.cite(chip.name),
        grade=spec.grade or "D",
    )


def memory_roof(chip: Chip, bytes_min: float, *, measured: bool) -> Roof | None:
    """Compulsory bytes over the device-memory bandwidth."""
    spec = chip.find("memory_bandwidth", measured=measured)
    if spec is None or not spec.base_value:
        return None
    return Roof(
        kind="memory",
        basis="measured" if measured else "cited",
        metric="memory_bandwidth",
        value=spec.base_value,
        unit="B/s",
        time_ns=bytes_min / spec.base_value * 1e9,
        cited_value=spec.base_value,
        citation=spec.cite(chip.name),
        grade=spec.grade or "",
    )
