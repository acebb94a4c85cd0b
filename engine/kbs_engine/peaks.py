"""Which cited peaks a task may use."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from kbs_engine.facts import UNKNOWN_NOTE, Chip, Spec
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


def _at_clock(spec: Spec, clock_hz: float | None) -> tuple[float, float | None]:
    value = spec.base_value or 0.0
    if clock_hz is None or spec.basis.clock_hz is None:
        return value, None
    return value * clock_hz / spec.basis.clock_hz, clock_hz


class Pipe(msgspec.Struct, frozen=True, kw_only=True):
    """The fastest pipe that a task permits, or why it cannot be named."""

    roof: Roof | None = None
    notes: tuple[str, ...] = ()


def compute_roof(chip: Chip, work: Work, *, clock_hz: float | None) -> Pipe:
    """The fastest dense pipe that the task permits, at the clock that ran.

    Time is flops / (ops/clock/unit × units × clock), which equals the cited peak scaled from
    the clock of its basis. Matrix units count only for matrix work. A matrix peak that the
    wiki lacks leaves the roof UNKNOWN: no slower pipe stands in for it. A unit that the part
    does not have at all does: the work then runs in a more precise type.
    """
    if work.flops is None:
        return Pipe(notes=("arithmetic not counted (exp, divide and the like are not known work)",))
    declared = tuple(dict.fromkeys(spec_dtype(dtype) for dtype in work.precisions))
    if not declared:
        return Pipe(notes=("no data type is known, so no arithmetic peak can be named",))
    unknown = [name for name in _matrix_names(work, declared) if _is_hole(chip, name)]
    if unknown:
        return Pipe(
            notes=tuple(f"{name} of {chip.id}: {UNKNOWN_NOTE}; no compute roof" for name in unknown)
        )
    notes = _unit_notes(chip, work, declared)
    best = _fastest(chip, work, declared, clock_hz)
    if best is None:
        higher = tuple(dict.fromkeys(more for dtype in declared for more in _HIGHER.get(dtype, ())))
        best = _fastest(chip, work, higher, clock_hz)
        if best is not None:
            notes = (*notes, f"{best.metric} stands in: {_why_other(chip, work, declared)}")
    if best is None:
        notes = (*notes, f"no peak of {chip.id} for {', '.join(declared)}: {UNKNOWN_NOTE}")
    return Pipe(roof=best, notes=notes)


def _matrix_names(work: Work, dtypes: tuple[str, ...]) -> list[str]:
    return [f"peak_{dtype}_tensor" for dtype in dtypes] if work.is_matrix else []


def _is_hole(chip: Chip, metric: str) -> bool:
    """A matrix peak that may exist and that nobody has cited; fp32 and int32 have no such unit."""
    if metric in ("peak_fp32_tensor", "peak_int32_tensor"):
        return False
    return chip.find_device(metric) is None and not chip.lacks(metric)


def _unit_notes(chip: Chip, work: Work, declared: tuple[str, ...]) -> tuple[str, ...]:
    if work.is_matrix or work.kernel != "other":
        return ()
    idle = [dtype for dtype in declared if chip.find_device(f"peak_{dtype}_tensor")]
    if not idle:
        return ()
    return (
        (
            f"vector pipes are assumed; a matrix product (--kernel gemm) may use the "
            f"{', '.join(idle)} matrix units"
        ),
    )


def _why_other(chip: Chip, work: Work, declared: tuple[str, ...]) -> str:
    lacking = [dtype for dtype in declared if chip.lacks(f"peak_{dtype}_tensor")]
    if work.is_matrix and lacking:
        return f"{chip.id} has no {', '.join(lacking)} matrix unit"
    return (
        f"the wiki has no vector peak of {chip.id} for {', '.join(declared)}, which may be faster"
    )


def _fastest(
    chip: Chip, work: Work, dtypes: tuple[str, ...], clock_hz: float | None
) -> Roof | None:
    metrics = [*_matrix_names(work, dtypes), *(f"peak_{dtype}" for dtype in dtypes)]
    flops = work.flops or 0.0
    roofs = [_compute_candidate(chip, metric, flops, clock_hz) for metric in metrics]
    return max((roof for roof in roofs if roof), key=lambda roof: roof.value, default=None)


def _compute_candidate(
    chip: Chip, metric: str, flops: float, clock_hz: float | None
) -> Roof | None:
    spec = chip.find_device(metric)
    if spec is None or not spec.base_value:
        return None
    value, clock = _at_clock(spec, clock_hz)
    return Roof(
        kind="compute",
        basis="placeholder" if spec.placeholder else "cited",
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
    spec = chip.find_device(cited.metric, measured=True)
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
    spec = chip.find_device("memory_bandwidth", measured=measured)
    if spec is None or not spec.base_value:
        return None
    basis: Literal["cited", "measured", "placeholder"] = "measured" if measured else "cited"
    return Roof(
        kind="memory",
        basis="placeholder" if spec.placeholder else basis,
        metric="memory_bandwidth",
        value=spec.base_value,
        unit="B/s",
        time_ns=bytes_min / spec.base_value * 1e9,
        cited_value=spec.base_value,
        citation=spec.cite(chip.name),
        grade=spec.grade or "",
    )
