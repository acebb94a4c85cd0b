"""Adaptive profiling: a cheap first pass, then only what separates the leading causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from kbs_engine.errors import UsageError
from kbs_engine.metrics import MetricMap, MetricRule
from kbs_engine.recommendations import KernelDiagnosis
from kbs_engine.symptoms import SymptomRule

SCHEMA_VERSION = 1

FIRST_SECTIONS: Final = ("SpeedOfLight", "LaunchStats", "Occupancy", "WorkloadDistribution")
"""Nsight Compute's basic set: a handful of passes, on every chip."""

DURATION: Final = "gpu__time_duration.sum"
LEADING: Final = 3
"""Causes that count as leading."""
CLOSE: Final = 0.5
"""A cause that could return less than this share of the leading one is no rival."""

_AXES: Final[dict[str, tuple[str, ...]]] = {
    "dram": ("memory",), "l2": ("memory",), "l1": ("memory",), "shared": ("memory",),
    "lsu": ("memory",), "tensor": ("compute",), "fma": ("compute",), "alu": ("compute",),
    "xu": ("compute",), "fp64": ("compute",), "issue": ("compute", "latency"),
    "latency": ("latency", "memory", "compute"), "occupancy": ("latency",),
    "launch": ("latency",), "mixed": ("memory", "compute"),
    "unknown": ("memory", "compute", "latency"),
}  # fmt: skip
"""Axes on which the cause may lie, given the limiter. A kernel that waits (latency) waits for
memory, for a pipe or for its own warps, so no axis is out."""

_ARCH_NAMES: Final[tuple[tuple[re.Pattern[str], tuple[tuple[int, int], ...]], ...]] = tuple(
    (re.compile(pattern), ranges)
    for pattern, ranges in (
        (r"_v2\b", ((89, 89),)),
        (r"pipe_tensor_op_[hi]mma(_cycles_active)?\.", ((0, 90),)),
        (r"pipe_tensor_op_dmma", ((80, 80), (90, 90))),
        (r"pipe_tensor_subpipe_[hi]mma", ((100, 999),)),
        (r"pipe_tensor_subpipe_dmma", ((100, 100),)),
        (r"pipe_tensor_op_gmma|_op_shared_gmma|stalled_gmma", ((90, 90),)),
        (r"stalled_warpgroup_arrive", ()),
        (r"pipe_tc\b|pipe_tc_", ((100, 110),)),
        (r"pipe_tma|op_tma_|mem_lgds", ((90, 999),)),
        (r"pipe_fp16\.", ((0, 80),)),
        (r"pipe_fma_type_fp16|pipe_fmaheavy", ((86, 999),)),
        (r"dram__bytes_(read|write)", ((0, 119),)),
        (r"dram__bytes_op_", ((120, 999),)),
        (r"stalled_imc_miss|imc_request", ((0, 90),)),
        (r"lrc__", ((90, 119),)),
        (r"lts__average_gcomp", ((80, 90), (120, 999))),
    )
)
"""Vendor names that only some compute capabilities (× 10) have, as ``ncu --query-metrics`` of
2025.3 lists them for tu102, ga100, ad102, gh100, gb100 and gb202; see also
gpu-wiki/profiling/ncu_metrics.md. No list names stalled_warpgroup_arrive."""

_BY_SECTION: Final = (
    "derived:", "derived__", "opcode:", "launch__", "sass__", "memory_l", "sm__maximum_warps",
    "smsp__maximum_warps",
)  # fmt: skip
"""Names that only a section yields: the reader, the driver or a section file works them out.
Asked for by name, one that ncu does not know ends the whole run ("Failed to find metric")."""


class ProfilePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one pass of the profiler collects, and why."""

    number: int
    sections: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    """Names of the vendor, for the chip."""
    reasons: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Nothing is left to ask: the first pass said enough."""
        return not self.sections and not self.metrics


def first_pass() -> ProfilePlan:
    """Cheap sections that tell the limiter and its axis."""
    return ProfilePlan(
        number=1,
        sections=FIRST_SECTIONS,
        reasons=("how busy each unit is, occupancy and its limits, load balance",),
    )


def second_pass(
    diagnosis: KernelDiagnosis,
    rules: Sequence[SymptomRule],
    metric_map: MetricMap,
    *,
    arch: int | None = None,
) -> ProfilePlan:
    """Only what separates the leading causes of one kernel.

    Wanted are what the rules lack that would explain a leading cause, and so take its place;
    what findings lack that would say that nothing is wrong; what the other rules on the
    limiter's axes lack, which are its rivals; and the optional metrics of the leading causes.
    Rules that a leading cause explains are not asked: fired or not, they would stay its
    effects. A kernel near its peak needs nothing more.

    Args:
        diagnosis: of the first pass.
        rules: all symptom rules.
        metric_map: names of the vendor.
        arch: compute capability × 10; None collects whole sections, which fit any chip.
    """
    if diagnosis.near_peak:
        return ProfilePlan(number=2, reasons=(f"near peak: {diagnosis.roofline.near_peak_reason}",))
    by_id = {rule.id: rule for rule in rules}
    leading = _leading(diagnosis)
    axes = _AXES.get(diagnosis.limiter, _AXES["unknown"])
    wanted: dict[str, str] = {}
    missing = [by_id[row.id] for row in diagnosis.not_measurable if row.id in by_id]
    needs = {row.id: row.needs for row in diagnosis.not_measurable}
    for rule in sorted(missing, key=lambda rule: (not _above(rule, leading), rule.id)):
        above = _above(rule, leading)
        if above:
            _want(wanted, needs[rule.id], f"{rule.id} would explain {', '.join(above)}")
        elif rule.axis == "none":
            _want(wanted, needs[rule.id], f"{rule.id} would say that nothing is wrong")
        elif rule.axis in axes and not _effect(rule, leading, by_id):
            _want(wanted, needs[rule.id], f"{rule.id} is a rival on the {rule.axis} axis")
    for name in leading:
        optional = [need for need in by_id[name].optional if _absent(need, diagnosis)]
        _want(wanted, optional, f"{name} is told from its rivals by it")
    return _plan(wanted, metric_map, arch)


_MANY_PASSES: Final = frozenset({"MemoryWorkloadAnalysis_Tables"})
"""Sections that a wide first pass leaves to a second one: 14 of 32 passes and 1.5 of 2.7 seconds
of a softmax on an H200 (ncu 2025.3), for the ways of shared-memory conflicts alone."""


def widest_pass(rules: Sequence[SymptomRule], metric_map: MetricMap, *, arch: int) -> ProfilePlan:
    """The first pass with nearly everything that any second pass could ask for on a chip.

    Of a short kernel it costs little more than the first pass, and saves most second ones: only
    a section of many passes is left to them.

    Args:
        rules: all symptom rules.
        metric_map: names of the vendor.
        arch: compute capability × 10.
    """
    wanted: dict[str, str] = {}
    for rule in rules:
        _want(wanted, (*rule.needs, *rule.optional), "what a second pass could ask for")
    more, first = _plan(wanted, metric_map, arch), first_pass()
    sections = (name for name in more.sections if name not in _MANY_PASSES)
    return ProfilePlan(
        number=1,
        sections=tuple(dict.fromkeys((*first.sections, *sections))),
        metrics=more.metrics,
        reasons=(*first.reasons, *more.reasons),
    )


def _leading(diagnosis: KernelDiagnosis) -> tuple[str, ...]:
    """The first causes, as far as they are rivals of the first."""
    causes = [cause for cause in diagnosis.causes if cause.axis != "none"][:LEADING]
    if not causes:
        return ()
    most = max(cause.recoverable for cause in causes)
    return tuple(cause.id for cause in causes if cause.recoverable >= CLOSE * most)


def _above(rule: SymptomRule, leading: Iterable[str]) -> list[str]:
    """The leading causes that the rule would explain."""
    return [name for name in leading if name in rule.explains]


def _effect(rule: SymptomRule, leading: Iterable[str], by_id: dict[str, SymptomRule]) -> bool:
    """Whether a leading cause explains the rule."""
    return any(name in by_id and rule.id in by_id[name].explains for name in leading)


def _absent(need: str, diagnosis: KernelDiagnosis) -> bool:
    return need.startswith("p.") and need[2:] not in diagnosis.metrics


def _want(wanted: dict[str, str], needs: Iterable[str], why: str) -> None:
    for need in needs:
        if need.startswith("p."):
            wanted.setdefault(need[2:], why)


def _plan(wanted: dict[str, str], metric_map: MetricMap, arch: int | None) -> ProfilePlan:
    sections: dict[str, None] = {}
    metrics: dict[str, None] = {}
    reasons: dict[str, None] = {}
    for canonical, why in wanted.items():
        rule = metric_map.metrics.get(canonical)
        names = vendor_names(rule, arch) if rule else None
        if names:
            metrics.update(dict.fromkeys(names))
        elif rule and names is None and rule.section:
            sections[rule.section] = None
        else:
            continue
        reasons[why] = None
    if metrics or sections:
        metrics[DURATION] = None
    return ProfilePlan(
        number=2, sections=tuple(sections), metrics=tuple(metrics), reasons=tuple(reasons)
    )


def vendor_names(rule: MetricRule, arch: int | None) -> tuple[str, ...] | None:
    """The vendor's names to ask for on a chip.

    Empty when the chip has no such counter. None when its section must be collected instead:
    the quantity is worked out from several counters, or the chip, and with it the spelling, is
    not known.
    """
    if arch is None:
        return None
    if (rule.min_arch is not None and arch < rule.min_arch) or (
        rule.max_arch is not None and arch > rule.max_arch
    ):
        return ()
    if rule.names:
        return _named((rule.names,), arch)
    if rule.sum:
        return _named(rule.sum, arch)
    if rule.max:
        return tuple(name for name in rule.max if _exists(name, arch))
    return _named(rule.ratio, arch)


def _named(terms: Sequence[Sequence[str]], arch: int) -> tuple[str, ...] | None:
    """One name for each term."""
    found: list[str] = []
    for term in terms:
        if term[0].startswith(_BY_SECTION):
            return None
        name = next((name for name in term if _exists(name, arch)), None)
        if name is None:
            return ()
        found.append(name)
    return tuple(dict.fromkeys(found))


def _exists(name: str, arch: int) -> bool:
    if name.startswith(_BY_SECTION):
        return False
    return all(
        any(low <= arch <= high for low, high in ranges)
        for pattern, ranges in _ARCH_NAMES
        if pattern.search(name)
    )


def ncu_command(
    plan: ProfilePlan,
    target: Sequence[str],
    output: str,
    *,
    kernel_regex: str | None = None,
    launch_skip: int | None = None,
    launch_count: int | None = None,
) -> tuple[str, ...]:
    """The command that runs one pass over ``target``.

    What changed its default between releases, or could be set by a file in the working folder,
    is written out; only what the target puts in a profiler range is measured.

    Raises:
        UsageError: a plan that collects nothing, or no target.
    """
    if plan.empty:
        raise UsageError("this pass collects nothing", remedy="skip it: the first pass is enough")
    if not target:
        raise UsageError("no program to profile", remedy="name the command that runs the kernel")
    options = [
        "ncu", "--config-file", "off", "--clock-control", "none", "--profile-from-start", "off",
        "--target-processes", "all",
    ]  # fmt: skip
    for section in plan.sections:
        options += ["--section", section]
    if plan.metrics:
        options += ["--metrics", ",".join(plan.metrics)]
    if kernel_regex is not None:
        options += ["--kernel-name", f"regex:{kernel_regex}"]
    if launch_skip is not None:
        options += ["--launch-skip", str(launch_skip)]
    if launch_count is not None:
        options += ["--launch-count", str(launch_count)]
    return (*options, "-f", "-o", output, *target)
