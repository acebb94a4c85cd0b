"""kbs roofline: roofs of a task from cited specs, alone or against a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.subjects import Selection, read_subjects, selection_of, selection_options
from kbs_engine.errors import UsageError
from kbs_engine.roofline import build_roofline
from kbs_engine.roofs import Roofline


@click.command(
    "roofline",
    epilog="Example: kbs roofline --chip H20 --kernel gemm --dtype bf16 --flops 1.374e11 "
    "--bytes-in 6.7e7 --bytes-out 3.4e7",
)
@click.argument("report", required=False, type=click.Path(path_type=Path))
@selection_options
@click.option("--time-ns", type=click.FloatRange(min=0, min_open=True), help="Time from a timer.")
@pass_context
def command(
    context: Context, *, report: Path | None, time_ns: float | None, **options: Any
) -> None:
    """Roofs with their citations: of the launches of REPORT, or of a task given by options."""
    selection = selection_of(options)
    if report is None:
        found = [("task", 0, _static(context, selection, time_ns))]
    else:
        found = _of_report(context, report, selection)
    if context.json:
        rows = [
            {"name": name, "launch": launch, "roofline": msgspec.to_builtins(line)}
            for name, launch, line in found
        ]
        context.print_json({"kernels": rows})
        return
    from kbs.render.text import show_roofline

    console = context.console()
    for name, launch, line in found:
        console.print(f"{name}  launch {launch}", style="bold", markup=False)
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
        if line.time_ns is None and line.model_ns is not None:
            console.print(f"  no faster than {line.model_ns:.4g} ns by these roofs", markup=False)
        for flag in line.flags:
            console.print(f"  note: {flag}", style="dim", markup=False)


def _static(context: Context, selection: Selection, time_ns: float | None) -> Roofline:
    if selection.chip is None or selection.override is None:
        raise UsageError(
            "a task needs a chip and its work",
            remedy="give --chip with --flops and/or --bytes-in and --bytes-out, or name a report",
        )
    chip = context.store().chip(selection.chip)
    return build_roofline(
        {}, chip=chip, work=selection.override, time_ns=time_ns, time_source="timer"
    )


def _of_report(
    context: Context, report: Path, selection: Selection
) -> list[tuple[str, int, Roofline]]:
    from kbs_engine.diagnose import resolve_chip

    store = context.store()
    found = []
    for subject in read_subjects([report], selection, store):
        chip = resolve_chip(subject, store, {})
        line = build_roofline(subject.profile.metrics, chip=chip, work=subject.work)
        found.append((subject.profile.name, subject.profile.launch, line))
    return found
