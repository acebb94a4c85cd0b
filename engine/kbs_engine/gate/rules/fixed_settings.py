"""What is fixed for a run was the same for every job of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.jobs import AnyJob, Check, ProfileJob, Result, Sanitize, Time
from kbs_engine.results import Checked, read
from kbs_engine.run.settings import Settings, changed_fixed
from kbs_engine.run.view import VersionView


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse settings, tolerances, dims, timing or a GPU that differ from the run's."""
    if context.broken is not None:
        return
    yield from _state(context)
    for path, result in context.raw():
        job = context.jobs.get(result.job_key)
        if job is not None:
            yield from _job(context, path, job)
        yield from _gpu(context, path, result)
    yield from _tolerance(context)
    yield from _pairs(context)


def _state(context: GateContext) -> Iterator[Refusal]:
    """state.json against what the journal says the run began with."""
    recorded = {
        int(event.data.get("number", 0)): msgspec.convert(event.data["settings"], Settings)
        for kind in ("run_started", "epoch")
        for event in context.run.journal.of_kind(kind)
    }
    settings = {epoch.number: epoch.settings for epoch in context.state.epochs}
    settings[context.state.epoch] = context.state.settings
    for number, stated in sorted(settings.items()):
        before = recorded.get(number)
        changed = ("the whole epoch",) if before is None else changed_fixed(before, stated)
        for name in changed:
            yield context.refuse(
                "fixed_settings",
                context.run.paths.state,
                f"{name} of epoch {number} is not what the journal recorded",
                f"{context.resume}; settings change with `kbs loop set`, which begins a new epoch",
            )


def _job(context: GateContext, path: Path, job: AnyJob) -> Iterator[Refusal]:
    """The task and the timing of one job against the settings."""
    settings = context.settings
    if not isinstance(job, (Check, Time, ProfileJob, Sanitize)):
        return
    wanted: dict[str, object] = {
        "dims": settings.dims,
        "atol": settings.atol,
        "rtol": settings.rtol,
        "outputs": settings.outputs,
        "ptr_size": settings.ptr_size,
        "permitted": settings.permitted,
        "reference_sha256": context.state.reference_sha256,
    }
    for name, value in wanted.items():
        found = getattr(job.task, name)
        if found != value:
            told = f"a job ran with {name} {_short(found)}; this run has {_short(value)}"
            yield context.refuse_measured("fixed_settings", path, told)
    if isinstance(job, Time) and job.settings != settings.timing:
        names = [n for n in job.settings.__struct_fields__
                 if getattr(job.settings, n) != getattr(settings.timing, n)]  # fmt: skip
        told = f"was timed with other {', '.join(names)}"
        yield context.refuse_measured("fixed_settings", path, told)


def _gpu(context: GateContext, path: Path, result: Result) -> Iterator[Refusal]:
    uuid, wanted = result.provenance.gpu_uuid, context.settings.gpu_uuid
    if uuid and wanted and uuid != wanted:
        told = f"was measured on {uuid}, the run on {wanted}"
        yield context.refuse_measured("fixed_settings", path, told)


def _tolerance(context: GateContext) -> Iterator[Refusal]:
    """What a version was held to is what v0 (the epoch's first version) was held to."""
    epochs = {epoch.number: epoch.first_version for epoch in context.state.epochs}
    entry = context.state.version(context.number)
    first = context.view.version(epochs.get(entry.epoch if entry else 0, 0))
    wanted, found = _held_to(first), _held_to(context.version)
    if wanted and found and wanted != found:
        yield context.refuse_measured(
            "fixed_settings",
            context.paths.bench,
            f"was checked to atol {found[0]:g}, rtol {found[1]:g}; the run is held to "
            f"{wanted[0]:g}, {wanted[1]:g}",
        )


def _held_to(view: VersionView | None) -> tuple[float, float] | None:
    if view is None or view.bench is None:
        return None
    for result in view.bench.checks:
        if result.value is not None:
            checked = read(result, Checked)
            if checked.atol is not None and checked.rtol is not None:
                return checked.atol, checked.rtol
    return None


def _pairs(context: GateContext) -> Iterator[Refusal]:
    """A champion's claim rests on fresh process pairs, as many as the run asks for."""
    bench = context.version.bench
    timed = bench.timed() if bench else None
    if timed is None or bench is None:
        return
    own = next((arm for arm in timed.arms if arm.sha256 == bench.source_sha256), None)
    pairs = len(set(own.process)) if own is not None else 0
    if own is not None and own.samples_ns and pairs < context.settings.process_pairs:
        yield context.refuse_measured(
            "fixed_settings",
            context.paths.bench,
            f"rests on {pairs} process pairs; this run asks for {context.settings.process_pairs}",
        )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"  # noqa: PLR2004 - a line's worth


RULE = Rule(
    id="fixed_settings",
    title="Fixed settings",
    refuses="Settings, tolerances, dims, pointer sizes, timing, reference or GPU that differ from "
    "those the journal recorded for the epoch; fewer process pairs than the run asks for.",
    check=check,
    every=True,
)
