"""kbs optimize: the whole loop, from a kernel and its reference to a faster one with a proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kbs.context import Context, pass_context
from kbs.looping.options import run_options, take_run
from kbs.measuring.dims import FREE_DIMS
from kbs.measuring.options import FILE, take_task, task_options


@click.command(
    "optimize",
    context_settings=FREE_DIMS,
    epilog="Example: kbs optimize softmax.cu --ref ref.py --dims M=4096,N=4096 -n 3",
)
@click.argument("kernel", type=FILE)
@task_options
@run_options
@pass_context
def command(context: Context, *, kernel: Path, **options: Any) -> None:
    """Optimize KERNEL against a reference and prove what came of it.

    v0 is measured, diagnosed and planned from; each version's branches are checked and raced,
    its methods ablated. "No better found" is an honest end: exit 0, improved false.
    With `--proposer agent` it stops at the first kernel that somebody has to write.
    """
    from kbs.looping.beginning import begin
    from kbs.looping.home import drive, tell

    task = take_task(options)
    chosen, record = take_run(context, options)
    with begin(kernel, task, chosen) as run:
        went = drive(context, run, record=record)
        root = run.root
    tell(context, root, went)
    if went.state.ended in ("environment", "stopped") and not went.state.best_ns:
        click.get_current_context().exit(1)
