"""kbs roofline: roofs of a task from cited specs, alone or against a profile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs.plotting import plot_option, write_plot
from kbs.subjects import FiniteRange, Selection, read_subjects, selection_of, selection_options
from kbs_engine.chartdata import ChartLaunch
from kbs_engine.errors import RefusedError, UsageError
from kbs_engine.roofline import build_roofline
from kbs_engine.roofs import Roofline
from kbs_engine.units import human_ns

if TYPE_CHECKING:
    from rich.console import Console


@click.command(
    "roofline",
    epilog="Example: kbs roofline --chip H20 --kernel gemm --dtype bf16 --flops 1.374e11 "
    "--bytes-in 6.7e7 --bytes-out 3.4e7",
)
@click.argument("report", required=False, type=PathType())
@selection_options
@click.option("--time-ns", type=FiniteRange(above_zero=True), help="Time from a timer.")
@plot_option
@pass_context
def command(
    context: Context,
    *,
    report: Path | None,
    time_ns: float | None,
    plot: Path | None,
    **options: Any,
) -> None:
    """Roofs with their citations: of the launches of REPORT, or of a task given by options."""
    selection = selection_of(options)
    if report is None:
        drawn, line = _static(context, selection, time_ns)
        found = [(drawn, line)]
    else:
        found = _of_report(context, report, selection)
    if plot:
        write_plot(plot, [drawn for drawn, _ in found])
    if context.json:
        rows = [
            {"name": drawn.name, "launch": drawn.launch, "roofline": msgspec.to_builtins(line)}
            for drawn, line in found
        ]
        context.print_json({"kernels": rows})
        return
    from kbs.render.text import show_roofline

    console = context.console()
    for drawn, line in found:
        console.print(f"{drawn.name}  launch {drawn.launch}", style="bold", markup=False)
        console.print(
            f"  algorithm bound by {line.algorithm_bound}"
            + (
                f" ({line.arithmetic_intensity:.4g} FLOP/B against a ridge of {line.ridge:.4g})"
                if line.arithmetic_intensity is not None and line.ridge is not None
                else ""
            ),
            markup=False,
        )
        show_roofline(console, line)
        if line.time_ns is None and line.model_cited_ns is not None:
            _show_models(console, line)
        for flag in line.flags:
            console.print(f"  note: {flag}", style="dim", markup=False)


def _show_models(console: Console, line: Roofline) -> None:
    """What the roofs say of a task that nobody timed: the cited bound, the measured target."""
    cited = max((roof.time_ns for roof in line.roofs if roof.basis == "cited"), default=None)
    if cited is not None:
        console.print(f"  at the cited peaks no faster than {human_ns(cited)}", markup=False)
    if line.model_measured_ns is not None:
        console.print(
            f"  at the measured ceilings, with an empty launch, {human_ns(line.model_measured_ns)}",
            markup=False,
        )


def _static(
    context: Context, selection: Selection, time_ns: float | None
) -> tuple[ChartLaunch, Roofline]:
    if selection.chip is None or selection.override is None:
        raise UsageError(
            "a task needs a chip and its work",
            remedy="give --chip with --flops and/or --bytes-in and --bytes-out, or name a report",
        )
    chip, work = context.store().chip(selection.chip), selection.override
    line = build_roofline({}, chip=chip, work=work, time_ns=time_ns, time_source="timer")
    if line.work_doubted:
        raise RefusedError(
            next(flag for flag in line.flags if flag.startswith("nothing does")),
            remedy="check --time-ns, which is in nanoseconds, then --flops, --bytes-in, "
            "--bytes-out, --dtype, --permitted and --chip",
        )
    drawn = ChartLaunch(launch=0, name="task", metrics={}, chip=chip, work=work, time_ns=time_ns)
    return drawn, line


def _of_report(
    context: Context, report: Path, selection: Selection
) -> list[tuple[ChartLaunch, Roofline]]:
    from kbs_engine.diagnose import chip_flags, resolve_chip

    store = context.store()
    found = []
    for subject in read_subjects([report], selection, store):
        chip = resolve_chip(subject, store, {})
        profile = subject.profile
        line = build_roofline(profile.metrics, chip=chip, work=subject.work)
        flags = (*profile.flags, *line.flags, *chip_flags(subject, chip, store))
        line = msgspec.structs.replace(line, flags=flags)
        drawn = ChartLaunch(
            launch=profile.launch,
            name=profile.name,
            metrics=profile.metrics,
            chip=chip,
            work=subject.work,
        )
        found.append((drawn, line))
    return found
