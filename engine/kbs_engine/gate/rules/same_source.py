"""What was checked, timed, profiled and disassembled is the kernel that stands in the folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.jobs import AnyJob, Check, ProfileJob, Sanitize, SourceRef, Time
from kbs_engine.run.files import read_bytes, sha256_of
from kbs_engine.run.measured import Bench


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse any file that speaks of another source than the kernel of this version."""
    sha256 = context.kernel_sha256
    if not sha256:
        return
    view = context.version
    named = (
        (context.paths.bench, view.bench, "timed"),
        (context.paths.ncu_top, view.top, "profiled"),
        (context.paths.roofline, view.roofline, "diagnosed"),
        (context.paths.sass_check, view.sass, "disassembled"),
        (context.paths.attribution, view.attribution, "ablated"),
    )
    for path, record, what in named:
        if record is not None and record.source_sha256 != sha256:
            yield context.refuse_measured(
                "same_source",
                path,
                f"{what} was {record.source_sha256[:12] or 'nothing'}, but the kernel here is "
                f"{sha256[:12]}",
            )
    yield from _jobs(context, sha256)
    yield from _report(context)
    for folder, parts in ((context.paths.branches, view.branches),
                          (context.paths.ablations, view.ablations)):  # fmt: skip
        for part in parts:
            if part.bench is not None:
                yield from _part(context, folder / part.name, part.bench)


def _jobs(context: GateContext, sha256: str) -> Iterator[Refusal]:
    """The jobs behind the champion's numbers, as the journal has them."""
    bench, top = context.version.bench, context.version.top
    results = [] if bench is None else [*bench.blocks, *bench.checks, *bench.sanitized]
    if top is not None:
        results += [result for result in (top.profile, top.second) if result is not None]
    for result in results:
        job = context.jobs.get(result.job_key)
        if job is not None and sha256 not in measured_sources(job):
            where = context.paths.ncu_top if isinstance(job, ProfileJob) else context.paths.bench
            what = "the profile" if isinstance(job, ProfileJob) else f"a {result.kind} answer"
            yield context.refuse_measured(
                "same_source", where, f"{what} is of another source than this kernel"
            )


def measured_sources(job: AnyJob) -> frozenset[str]:
    """Hashes of the sources that a job measured."""
    if isinstance(job, (Check, ProfileJob, Sanitize)):
        return frozenset({job.source.sha256})
    if isinstance(job, Time):
        return frozenset(arm.sha256 for arm in job.arms if isinstance(arm, SourceRef))
    return frozenset()


def _report(context: GateContext) -> Iterator[Refusal]:
    """The report beside the version is the one that its profile job wrote."""
    top = context.version.top
    profiled = top.profiled() if top else None
    if top is None or profiled is None or not profiled.report_sha256:
        return
    if top.report_sha256 and top.report_sha256 != profiled.report_sha256:
        yield context.refuse_measured(
            "same_source", context.paths.ncu_top, "names another report than it holds"
        )
    for path in context.paths.root.glob("profile.*"):
        if sha256_of(read_bytes(path)) != profiled.report_sha256:
            yield context.refuse_measured(
                "same_source",
                path,
                "is not the report that the profile of this kernel wrote",
            )


def _part(context: GateContext, folder: Path, bench: Bench) -> Iterator[Refusal]:
    """A branch or ablation: its kernel is the one that its bench is about."""
    path = folder / context.settings.kernel_file
    if path.is_file() and sha256_of(read_bytes(path)) != bench.source_sha256:
        yield context.refuse_measured("same_source", path, "is not the source that its bench timed")


RULE = Rule(
    id="same_source",
    title="One source throughout",
    refuses="A check, timing, profile, disassembly or ablation of another source than the kernel "
    "that stands in the version; a profiler report that another job wrote.",
    check=check,
    every=True,
)
