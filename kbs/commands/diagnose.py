"""kbs diagnose: causes, limiter and roofline of a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kbs.context import Context, pass_context
from kbs.subjects import Selection, read_subjects, selection_of, selection_options
from kbs_engine.diagnose import Diagnosed, diagnose
from kbs_engine.rows import Call


@click.command("diagnose", epilog="Example: kbs diagnose report.ncu-rep --launch 2")
@click.argument("reports", nargs=-1, required=True, type=click.Path(path_type=Path))
@selection_options
@click.option("--one-call", is_flag=True, help="All launches are one call of the function.")
@click.option("--call-time-ns", type=click.FloatRange(min=0), help="Host time of that call, in ns.")
@pass_context
def command(context: Context, *, reports: tuple[Path, ...], **options: Any) -> None:
    """What limits each launch of REPORTS (.ncu-rep, ncu CSV or text, rocprof CSV), and why."""
    from kbs.render.shapes import diagnosis_shape

    items = run_diagnosis(context, reports, selection_of(options), **options)
    if context.json:
        context.print_json({"kernels": [diagnosis_shape(item.diagnosis) for item in items]})
        return
    from kbs.render.text import show_diagnosis

    console = context.console()
    if len(items) > 1:
        console.print(f"{len(items)} launches; shares are of their summed time", style="dim")
    for item in items:
        show_diagnosis(console, item.diagnosis, verbose=context.verbosity > 0)


def run_diagnosis(
    context: Context,
    reports: tuple[Path, ...],
    selection: Selection,
    *,
    one_call: bool,
    call_time_ns: float | None,
) -> tuple[Diagnosed, ...]:
    """Read, select and diagnose."""
    store = context.store()
    subjects = read_subjects(reports, selection, store)
    call = None
    if one_call or call_time_ns is not None:
        profiles = [subject.profile for subject in subjects]
        call = Call.of(profiles, call_time_ns=call_time_ns)
    return diagnose(subjects, store, call=call)
