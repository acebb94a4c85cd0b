"""The four rows that a symptom rule reads, built from records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.peaks import spec_dtype
from kbs_engine.ports import Rows
from kbs_engine.profiles import Profile
from kbs_engine.roofs import Roofline
from kbs_engine.work import Work

SHORT_KERNEL_NS: Final = 10_000.0
"""Kernels under this are short: a launch costs microseconds."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """The launches that one call of the user's function made.

    Only a caller who knows that a report holds exactly one call may say so; a report of
    several separate kernels is no call, and its rules about calls are then not measurable.
    """

    kernel_count: int | None = None
    kernel_time_ns: float | None = None
    short_kernel_count: int | None = None
    call_time_ns: float | None = None

    @classmethod
    def of(cls, profiles: Sequence[Profile], *, call_time_ns: float | None = None) -> Call:
        """The call that made exactly these launches; one without a time leaves its sums unknown."""
        times = [profile.time_ns for profile in profiles if profile.time_ns is not None]
        known = bool(times) and len(times) == len(profiles)
        return cls(
            kernel_count=len(profiles),
            kernel_time_ns=sum(times) if known else None,
            short_kernel_count=sum(time < SHORT_KERNEL_NS for time in times) if known else None,
            call_time_ns=call_time_ns,
        )


def build_rows(
    profile: Profile,
    *,
    work: Work | None,
    chip: Chip | None,
    roofline: Roofline,
    call: Call,
    time_share: float | None,
) -> Rows:
    """The rows p, c, w, h of docs/wiki-format.md; what is not known is None."""
    return Rows(
        p=profile.metrics,
        c={
            "call_time_ns": call.call_time_ns,
            "kernel_count": call.kernel_count,
            "kernel_time_ns": call.kernel_time_ns,
            "short_kernel_count": call.short_kernel_count,
            "time_share": time_share,
        },
        w=_work_row(None if roofline.work_doubted else work, chip),
        h=_hardware_row(chip, roofline),
    )


def _work_row(work: Work | None, chip: Chip | None) -> dict[str, float | str | None]:
    if work is None:
        return {}
    return {
        "flops": work.flops,
        "bytes_in": work.bytes_in,
        "bytes_out": work.bytes_out,
        "bytes_min": work.bytes_min,
        "dtype": work.dtype,
        "kernel": work.kernel,
        "matrix": float(work.is_matrix),
        "fp64_permitted": float("fp64" in work.precisions) if work.precisions else None,
        "tensor_permitted": _tensor_permitted(work, chip),
    }


def _tensor_permitted(work: Work, chip: Chip | None) -> float | None:
    if chip is None or not work.precisions:
        return None
    if not work.is_matrix:
        return 0.0
    return float(any(chip.find(f"peak_{spec_dtype(dtype)}_tensor") for dtype in work.precisions))


def _hardware_row(chip: Chip | None, roofline: Roofline) -> dict[str, float | None]:
    def number(metric: str) -> float | None:
        return chip.device_number(metric) if chip else None

    trusted = () if roofline.work_doubted else roofline.roofs
    times = {roof.kind: roof.time_ns for roof in trusted if roof.basis != "measured"}
    return {
        "peak_bandwidth_bytes_per_s": number("memory_bandwidth"),
        "l2_bytes": number("l2_size"),
        "unit_count": number("unit_count"),
        "max_warps_per_unit": number("max_warps_per_unit"),
        "sm_clock_peak_hz": number("clock_boost"),
        "has_tensor": None if chip is None else float(_has_tensor(chip)),
        "empty_launch_ns": roofline.fixed_ns,
        "memory_roof_ns": times.get("memory"),
        "compute_roof_ns": times.get("compute"),
        "model_ns": roofline.model_ns,
        "gap": roofline.gap,
    }


def _has_tensor(chip: Chip) -> bool:
    return any(spec.metric.endswith("_tensor") and spec.value is not None for spec in chip.specs)
