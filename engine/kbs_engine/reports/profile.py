"""ncu_summary.md, ncu_details.md and ncu_top.json from canonical profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kbs_engine.causes import unit_of
from kbs_engine.limiter import find_limiter
from kbs_engine.profiles import Profile
from kbs_engine.recommendations import KernelDiagnosis
from kbs_engine.reports.text import NOT_COLLECTED, bullets, document, number, section, table, time
from kbs_engine.run.measured import NcuTop, TopMetric
from kbs_engine.vocabulary import MethodAxis

WITHOUT_COUNTERS: Final = (
    "This run reads no hardware counters: nothing was profiled, and nothing here or later claims "
    "what needs them. What follows rests on timing, the cited roofline and the machine code."
)
_SUMMARY: Final = (
    ("time", "duration_ns"), ("DRAM busy", "dram_pct"), ("L2 busy", "l2_pct"),
    ("L1 busy", "l1_pct"), ("tensor pipe", "tensor_pct"), ("FMA pipe", "fma_pct"),
    ("issue slots", "issue_active_pct"), ("achieved occupancy", "achieved_occupancy_pct"),
    ("DRAM read", "dram_read_bytes"), ("DRAM write", "dram_write_bytes"),
)  # fmt: skip
_AXES: Final[dict[MethodAxis, tuple[str, ...]]] = {
    "memory": ("dram", "l2_", "l1_", "shared", "sector", "bank", "local", "memory", "global"),
    "compute": ("tensor", "fma", "alu", "xu", "fp64", "compute", "pipe", "flop", "inst"),
    "latency": ("stall", "issue", "warp", "occupancy", "eligible", "wave", "block", "register",
                "thread"),
}  # fmt: skip


def _whose(version: int | str) -> str:
    """A version of a run by its number, any other kernel by its name."""
    return f"v{version}" if isinstance(version, int) else version


def ncu_summary(
    version: int | str, profiles: Sequence[Profile], diagnoses: Sequence[KernelDiagnosis] = (),
    *, why_not: str = "",
) -> str:  # fmt: skip
    """What the profiler saw at a glance, kernel by kernel, with what limits each."""
    if not profiles:
        return document(
            f"Profile of {_whose(version)}",
            WITHOUT_COUNTERS,
            f"Why: {why_not}" if why_not else "",
            section("Diagnosis", bullets(_causes(diagnoses))),
        )
    headers = ("Kernel", *(words for words, _ in _SUMMARY), "Limiter")
    rows = [
        (
            profile.name[:60],
            *(_shown(profile.metrics, name) for _, name in _SUMMARY),
            find_limiter(profile.metrics).limiter,
        )
        for profile in profiles
    ]
    flags = [f"{profile.name}: {flag}" for profile in profiles for flag in profile.flags]
    return document(
        f"Profile of {_whose(version)}",
        table(headers, rows),
        section("Diagnosis", bullets(_causes(diagnoses))),
        section("Doubts", bullets(flags)) if flags else "",
    )


def ncu_details(version: int | str, profiles: Sequence[Profile], *, why_not: str = "") -> str:
    """Every canonical metric of every launch, and Nsight's own findings."""
    if not profiles:
        why = f"Why: {why_not}" if why_not else ""
        return document(f"Profile details of {_whose(version)}", WITHOUT_COUNTERS, why)
    parts = []
    for profile in profiles:
        rows = [
            (name, f"{value:.6g}", unit_of(name) or "-")
            for name, value in sorted(profile.metrics.items())
        ]
        rules = [
            f"{rule.title}" + (f" (estimated {rule.estimated_speedup_pct:.1f} %)"
                               if rule.estimated_speedup_pct is not None else "")
            for rule in profile.vendor_rules
        ]  # fmt: skip
        parts.append(
            section(
                f"{profile.name[:80]}, launch {profile.launch}",
                table(("Metric", "Value", "Unit"), rows),
                "Findings of Nsight Compute:",
                bullets(rules),
            )
        )
    return document(f"Profile details of {_whose(version)}", *parts)


def ncu_top(
    version: int, source_sha256: str, profiles: Sequence[Profile],
    diagnoses: Sequence[KernelDiagnosis] = (), *, ncu_num: int = 5,
) -> NcuTop:  # fmt: skip
    """The ``ncu_num`` metrics of each axis most worth looking at.

    First the metrics that fired causes name, by what the cause could return; then those of the
    axis by size, percentages before other units.
    """
    axes: dict[MethodAxis, tuple[TopMetric, ...]] = {}
    for axis in _AXES:
        named = _evidence(axis, diagnoses)
        rest = [row for profile in profiles for row in _of_axis(axis, profile)]
        seen: dict[tuple[str, str], TopMetric] = {}
        for row in (*named, *rest):
            seen.setdefault((row.metric, row.kernel), row)
        axes[axis] = tuple(seen.values())[:ncu_num]
    return NcuTop(
        version=version,
        source_sha256=source_sha256,
        mode="counters" if profiles else "counter-free",
        ncu_num=ncu_num,
        axes=axes,
    )


def _evidence(axis: MethodAxis, diagnoses: Sequence[KernelDiagnosis]) -> list[TopMetric]:
    return [
        TopMetric(
            metric=row.metric,
            value=row.value,
            unit=row.unit,
            kernel=diagnosis.name,
            why=f"{cause.id}, up to {100 * cause.recoverable:.0f} % of the time",
        )
        for diagnosis in diagnoses
        for cause in diagnosis.causes
        if cause.axis == axis
        for row in cause.evidence
        if row.metric in diagnosis.metrics
    ]


def _of_axis(axis: MethodAxis, profile: Profile) -> list[TopMetric]:
    found = [
        TopMetric(metric=name, value=value, unit=unit_of(name), kernel=profile.name)
        for name, value in profile.metrics.items()
        if any(word in name for word in _AXES[axis]) and name != "duration_ns"
    ]
    return sorted(found, key=lambda row: (row.unit != "%", -row.value, row.metric))


def _causes(diagnoses: Sequence[KernelDiagnosis]) -> list[str]:
    return [
        f"{item.name[:60]}: {cause.id} ({cause.axis}, up to {100 * cause.recoverable:.0f} % of "
        f"the time): {cause.message}"
        for item in diagnoses
        for cause in item.causes
    ]


def _shown(metrics: dict[str, float], name: str) -> str:
    if name not in metrics:
        return NOT_COLLECTED
    if name.endswith("_ns"):
        return time(metrics[name])
    unit = unit_of(name)
    return f"{number(metrics[name])}{' ' + unit if unit else ''}"
