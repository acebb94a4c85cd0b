"""A kernel profiled, diagnosed, and profiled again where a second pass separates the causes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kbs.measuring.devices import Measuring
from kbs.measuring.subject import Subject as Measured
from kbs_engine.adaptive import ProfilePlan, first_pass, second_pass
from kbs_engine.diagnose import Diagnosed, Subject, diagnose
from kbs_engine.jobs import Count, ProfileJob
from kbs_engine.passes import DIAGNOSIS_SECTIONS, merge_passes, without_held
from kbs_engine.profiles import Profile
from kbs_engine.results import Counted, Profiled, read
from kbs_engine.work import Work

if TYPE_CHECKING:
    from kbs_ingest.store import Store


NOT_CALLED = "no call of the kernel was made; `kbs check` says whether it runs"


class Profiling(msgspec.Struct, frozen=True, kw_only=True):
    """What profiling one call of a kernel gave. Without counters ``profiles`` is empty."""

    passes: tuple[Profiled, ...]
    plans: tuple[ProfilePlan, ...]
    profiles: tuple[Profile, ...]
    diagnoses: tuple[Diagnosed, ...]
    work: Work | None = None
    notes: tuple[str, ...] = ()

    @property
    def why_not(self) -> str:
        """Why there are no counters; empty when there are."""
        return "" if self.profiles else "; ".join(self.passes[0].notes)


def profile_kernel(
    bench: Measuring, subject: Measured, store: Store, *, adaptive: bool, chip: str | None = None
) -> Profiling:
    """Profile ``subject`` on the device, in one full pass or in two narrow ones.

    Raises:
        MeasurementError: the profiler made no report.
        ReportError: it made one that cannot be read.
    """
    work, notes = _work(bench, subject)
    first = (
        first_pass()
        if adaptive
        else ProfilePlan(number=1, sections=DIAGNOSIS_SECTIONS, reasons=("every symptom rule",))
    )
    answer = _run(bench, subject, first)
    profiles = read_profiles(bench, answer, store)
    diagnoses = _diagnose(profiles, work, store, subject, chip)
    plans, passes = [first], [answer]
    if not answer.passes and not profiles:
        notes = (*notes, NOT_CALLED)
    if adaptive and profiles:
        plan = without_held(
            plan_second(diagnoses, profiles, store), answer.sections, answer.metrics
        )
        plans.append(plan)
        if not plan.empty:
            passes.append(_run(bench, subject, plan))
            profiles = merge_passes(profiles, read_profiles(bench, passes[-1], store))
            diagnoses = _diagnose(profiles, work, store, subject, chip)
    return Profiling(
        passes=tuple(passes), plans=tuple(plans), profiles=profiles, diagnoses=diagnoses,
        work=work, notes=notes,
    )  # fmt: skip


def plan_second(
    diagnoses: Sequence[Diagnosed], profiles: Sequence[Profile], store: Store
) -> ProfilePlan:
    """One second pass for all kernels of the call: the union of what each of them needs."""
    metric_map, rules = store.metric_map("nvidia"), store.rules()
    plans = [
        second_pass(item.diagnosis, rules, metric_map, arch=_arch(profile))
        for item, profile in zip(diagnoses, profiles, strict=True)
    ]
    return ProfilePlan(
        number=2,
        sections=tuple(dict.fromkeys(name for plan in plans for name in plan.sections)),
        metrics=tuple(dict.fromkeys(name for plan in plans for name in plan.metrics)),
        reasons=tuple(dict.fromkeys(text for plan in plans for text in plan.reasons)),
    )


def _arch(profile: Profile) -> int | None:
    """Compute capability × 10, as the report states it."""
    text = (profile.compute_capability or "").replace(".", "")
    return int(text) if text.isdigit() else None


def _run(bench: Measuring, subject: Measured, plan: ProfilePlan) -> Profiled:
    job = ProfileJob(
        source=subject.source, task=subject.task, sections=plan.sections, metrics=plan.metrics
    )
    return read(bench.run(job), Profiled)


def read_profiles(bench: Measuring, answer: Profiled, store: Store) -> tuple[Profile, ...]:
    """The launches of a pass's report; none in counter-free mode."""
    if answer.mode == "counter-free" or not answer.report_sha256:
        return ()
    from kbs_ingest.readers import read_report, report_vendor

    with tempfile.TemporaryDirectory(prefix="kbs-profile-") as folder:
        path = Path(folder) / answer.report_name
        path.write_bytes(bench.blobs.get(answer.report_sha256))
        return read_report(path, store.metric_map(report_vendor(path))).profiles


def _work(bench: Measuring, subject: Measured) -> tuple[Work | None, tuple[str, ...]]:
    """Work of the reference, where the device can count it."""
    result = bench.run(Count(task=subject.task))
    if result.value is None:
        return None, (f"work not counted: {result.failure}",)
    counted = read(result, Counted)
    return counted.work, counted.notes


def _diagnose(
    profiles: Sequence[Profile], work: Work | None, store: Store, subject: Measured,
    chip: str | None,
) -> tuple[Diagnosed, ...]:  # fmt: skip
    """The work belongs to the call: it is given to a launch only where it is the only one."""
    if not profiles:
        return ()
    subjects = [
        Subject(
            profile=profile,
            work=work if len(profiles) == 1 else None,
            chip_name=chip,
            language=subject.source.language,
        )
        for profile in profiles
    ]
    return diagnose(subjects, store)
