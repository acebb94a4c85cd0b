"""kbs diagnose: causes, limiter and roofline of a profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs.plotting import plot_option, write_plot
from kbs.subjects import FiniteRange, Selection, read_subjects, selection_of, selection_options
from kbs_engine.chartdata import ChartLaunch
from kbs_engine.diagnose import Diagnosed, Subject, diagnose
from kbs_engine.rows import Call
from kbs_engine.sourceview import SourceView


@click.command("diagnose", epilog="Example: kbs diagnose report.ncu-rep --launch 2")
@click.argument("reports", nargs=-1, required=True, type=PathType())
@selection_options
@click.option("--one-call", is_flag=True, help="All launches are one call of the function.")
@click.option("--call-time-ns", type=FiniteRange(), help="Host time of that call, in ns.")
@plot_option
@click.option("--source", is_flag=True, help="Guilty source lines, from source counters.")
@pass_context
def command(
    context: Context,
    *,
    reports: tuple[Path, ...],
    plot: Path | None,
    source: bool,
    **options: Any,
) -> None:
    """What limits each launch of REPORTS (.ncu-rep, ncu CSV or text, rocprof CSV), and why."""
    from kbs.render.shapes import diagnosis_shape
    from kbs.render.source import show_source, source_shape

    subjects = read_subjects(reports, selection_of(options), context.store())
    items = diagnose_subjects(context, subjects, **options)
    views = _views(subjects) if source else ()
    if plot:
        write_plot(plot, [_drawn(item) for item in items])
    if context.json:
        shapes = [diagnosis_shape(item.diagnosis) for item in items]
        for shape, item, view in zip(shapes, items, views, strict=bool(views)):
            shape.update(source_shape(item.diagnosis, view))
        context.print_json({"kernels": shapes})
        return
    from kbs.render.text import show_diagnosis

    console = context.console()
    if len(items) > 1:
        console.print(f"{len(items)} launches; shares are of their summed time", style="dim")
    for number, item in enumerate(items):
        show_diagnosis(console, item.diagnosis, verbose=context.verbosity > 0)
        if source:
            show_source(console, item.diagnosis, views[number], verbose=context.verbosity > 0)


def _views(subjects: Sequence[Subject]) -> tuple[SourceView, ...]:
    """Source counters of each launch; an empty view where the report has none."""
    from kbs_ingest.readers.ncu_source import read_source

    reports = {path: read_source(Path(path)) for path in {s.profile.source for s in subjects}}
    found = []
    for subject in subjects:
        views, launch = reports[subject.profile.source], subject.profile.launch
        found.append(views[launch] if launch < len(views) else SourceView())
    return tuple(found)


def _drawn(item: Diagnosed) -> ChartLaunch:
    found = item.diagnosis
    return ChartLaunch(
        launch=found.launch,
        name=found.name,
        metrics=found.metrics,
        chip=item.chip,
        work=item.work,
    )


def run_diagnosis(
    context: Context,
    reports: tuple[Path, ...],
    selection: Selection,
    *,
    one_call: bool,
    call_time_ns: float | None,
) -> tuple[Diagnosed, ...]:
    """Read, select and diagnose."""
    subjects = read_subjects(reports, selection, context.store())
    return diagnose_subjects(context, subjects, one_call=one_call, call_time_ns=call_time_ns)


def diagnose_subjects(
    context: Context,
    subjects: Sequence[Subject],
    *,
    one_call: bool,
    call_time_ns: float | None,
) -> tuple[Diagnosed, ...]:
    """Diagnose launches that were read, as one call where the user says so."""
    call = None
    if one_call or call_time_ns is not None:
        profiles = [subject.profile for subject in subjects]
        call = Call.of(profiles, call_time_ns=call_time_ns)
    return diagnose(subjects, context.store(), call=call)
