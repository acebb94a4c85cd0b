"""kbs check: is a kernel right, and does it play fair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kbs.context import Context, pass_context
from kbs.measuring.dims import FREE_DIMS
from kbs.measuring.options import (
    FILE,
    device_options,
    take_device,
    take_task,
    task_options,
)
from kbs_engine.jobs import MOST_CHECK_ROUNDS


@click.command(
    "check",
    context_settings=FREE_DIMS,
    epilog="Example: kbs check kernel.py --ref ref.py --dims M=4096,N=4096",
)
@click.argument("kernel", type=FILE)
@task_options
@device_options
@click.option(
    "--rounds", type=click.IntRange(1, MOST_CHECK_ROUNDS), default=10, show_default=True,
    help="Rounds, each with secret inputs of its own.",
)  # fmt: skip
@pass_context
def command(context: Context, *, kernel: Path, rounds: int, **options: Any) -> None:
    """Check a kernel against a reference, in a process of its own.

    Inputs of several distributions are drawn secretly; every element is compared.
    Exit 1 when the kernel is wrong or refused; the reason is one of docs/attacks.md.
    """
    from kbs.measuring.checked import check_json, check_lines
    from kbs.measuring.devices import measuring
    from kbs.measuring.subject import read_subject, told_by_name
    from kbs_engine.jobs import Check
    from kbs_engine.results import Checked, read

    task_given = take_task(options)
    with told_by_name(task_given.reference), measuring(context, take_device(options)) as bench:
        subject = read_subject(kernel, task_given, bench.blobs)
        result = bench.run(Check(source=subject.source, task=subject.task, rounds=rounds))
        notes = (*bench.notes, *subject.notes)
        checked = read(result, Checked)
    if context.json:
        context.print_json(check_json(subject, result, checked, notes))
    else:
        dims = " ".join(f"{name}={value}" for name, value in subject.task.dims.items())
        click.echo(f"{kernel.name}  {subject.source.language}  against {task_given.reference.name}"
                   f"  {dims}".rstrip())  # fmt: skip
        for line in check_lines(checked, verbose=context.verbosity > 0):
            click.echo(line)
        for note in (*notes, *checked.warnings):
            click.echo(f"  note: {note}")
    if not checked.passed:
        click.get_current_context().exit(1)
