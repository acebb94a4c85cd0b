"""kbs loop: the loop a step at a time, for a person, an agent, or any program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.looping.options import run_options, take_run
from kbs.measuring.dims import FREE_DIMS
from kbs.measuring.options import FILE, take_task, task_options
from kbs.paths import PathType
from kbs_engine.loop.actions import Stage
from kbs_engine.shell import shell

RUN = click.argument("run_path", metavar="RUN", type=PathType(file_okay=False))
DEVICE = click.option("--device", default="", help="Go on with this device instead of the run's.")
RECORD = click.option(
    "--record",
    type=PathType(file_okay=False),
    help="Write jobs and answers here.",
)


@click.group("loop", epilog="Example: kbs loop init softmax.cu --ref ref.py --dims M=4096,N=4096")
@pass_context
def command(context: Context) -> None:
    """One run, step by step: init, next, submit, close, and every stage alone.

    Every verb goes on from where the run stands; what is done already is only told again.
    """
    del context


@command.command(
    "init", context_settings=FREE_DIMS, epilog="Example: kbs loop init k.py --ref ref.py --M=1024"
)
@click.argument("kernel", type=FILE)
@task_options
@run_options
@pass_context
def init(context: Context, *, kernel: Path, **options: Any) -> None:
    """Make the run of KERNEL and measure v0."""
    from kbs.looping.beginning import begin
    from kbs.looping.home import drive, stage_ends, tell

    task = take_task(options)
    chosen, record = take_run(context, options)
    with begin(kernel, task, chosen) as run:
        went = drive(context, run, record=record, until=stage_ends("measure"))
        root = run.root
    tell(context, root, went)
    if went.state.ended:
        click.get_current_context().exit(1)


def _stage(name: str, stage: Stage, doc: str, shows: str) -> None:
    """A verb that goes on to the end of one stage and shows what it wrote."""

    @RUN
    @DEVICE
    @RECORD
    @pass_context
    def verb(context: Context, *, run_path: Path, device: str, record: Path | None) -> None:
        from kbs.looping.stages import run_stage

        run_stage(context, run_path, stage=stage, shows=shows, device=device, record=record)

    verb.__doc__ = doc
    command.command(name, epilog=f"Example: kbs loop {name} run_20250101_120000")(verb)


_stage("roofline", "roofline", "Diagnose the current version and share out the budget.",
       "roofline.json")  # fmt: skip
_stage("plan", "plan", "Plan the next version, with a reason for every method skipped.",
       "request.json")  # fmt: skip
_stage("branch", "branch", "Write, screen, check and race the branches of the next version.",
       "branches")  # fmt: skip
_stage("verify", "verify", "Judge the methods of the champion by its machine code.",
       "sass_check.json")  # fmt: skip
_stage("ablate", "ablate", "Switch each method of the champion off and attribute the gain.",
       "attribution.json")  # fmt: skip


@command.command("next", epilog="Example: kbs loop next run_20250101_120000")
@RUN
@DEVICE
@RECORD
@pass_context
def next_(context: Context, *, run_path: Path, device: str, record: Path | None) -> None:
    """Go on until a kernel is asked for (request.json) or the next version is recorded."""
    from kbs.looping.home import drive, open_run, stage_ends, tell

    with open_run(context, run_path) as run:
        after = max((row.version for row in run.state().versions), default=-1)
        went = drive(
            context, run, device=device, record=record, until=stage_ends("record", after=after)
        )
    tell(context, run_path, went)


@command.command("submit", epilog="Example: kbs loop submit run_20250101_120000 kernel.cu")
@RUN
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option(
    "--method",
    "methods",
    multiple=True,
    help="A planned method that the kernel contains. Default: all of the plan.",
)
@click.option("--note", default="", help="What was done, in words.")
@pass_context
def submit(
    context: Context,
    *,
    run_path: Path,
    files: tuple[Path, ...],
    methods: tuple[str, ...],
    note: str,
) -> None:
    """Give one or more kernels for the version that the run waits for; `close` tries them."""
    from kbs.looping.stages import submit_files

    number, replaced = submit_files(context, run_path, files, methods, note)
    told = {
        "run": str(run_path), "version": number, "candidates": len(files), "replaces": replaced,
    }  # fmt: skip
    if context.json:
        context.print_json(told)
    elif context.verbosity >= 0:
        click.echo(f"{len(files)} candidate{'s' if len(files) > 1 else ''} for v{number}"
                   f"{f', replaces {replaced} submitted before' if replaced else ''}; "
                   f"`kbs loop close {shell(run_path)}` tries them")  # fmt: skip


@command.command("close", epilog="Example: kbs loop close run_20250101_120000")
@RUN
@DEVICE
@RECORD
@pass_context
def close(context: Context, *, run_path: Path, device: str, record: Path | None) -> None:
    """Finish the version in work: branches, champion, profile, verdicts, gate, commit."""
    from kbs.looping.home import drive, open_run, stage_ends, tell

    with open_run(context, run_path) as run:
        after = max((row.version for row in run.state().versions), default=-1)
        went = drive(
            context, run, device=device, record=record, until=stage_ends("gate", after=after)
        )
    tell(context, run_path, went)


@command.command("resume", epilog="Example: kbs loop resume run_20250101_120000")
@RUN
@DEVICE
@RECORD
@pass_context
def resume(context: Context, *, run_path: Path, device: str, record: Path | None) -> None:
    """Go on after a crash, a refusal or a wait; nothing that finished is done twice."""
    from kbs.looping.home import drive, open_run, tell

    with open_run(context, run_path) as run:
        went = drive(context, run, device=device, record=record)
    tell(context, run_path, went)


@command.command("status", epilog="Example: kbs loop status run_20250101_120000")
@RUN
@pass_context
def status(context: Context, *, run_path: Path) -> None:
    """Where the run stands; nothing is asked and nothing written.

    Exit 1 where it does not stand as it passed its gates: something was changed or is gone.
    """
    from kbs.looping.home import show_status

    if not show_status(context, run_path):
        click.get_current_context().exit(1)


@command.command("state", epilog="Example: kbs loop state run_20250101_120000")
@RUN
@pass_context
def state(context: Context, *, run_path: Path) -> None:
    """state.json as it stands."""
    from kbs.looping.home import open_run

    with open_run(context, run_path, writing=False) as run:
        context.print_json(msgspec.to_builtins(run.state()))


@command.command("extend", epilog="Example: kbs loop extend run_20250101_120000 -n 2")
@RUN
@click.option("-n", "--iterations", type=click.IntRange(1, 1000), required=True,
              help="Versions more.")  # fmt: skip
@pass_context
def extend(context: Context, *, run_path: Path, iterations: int) -> None:
    """Allow more versions."""
    from kbs.looping.orders import give_order

    give_order(context, run_path, "extend", iterations=iterations)


@command.command("set", epilog="Example: kbs loop set run_20250101_120000 --set dims.M=8192")
@RUN
@click.option(
    "--set",
    "changes",
    multiple=True,
    required=True,
    help="field=value or field.name=value; a value is JSON where it reads as such.",
)
@click.option("--reason", default="", help="Why, for the README.")
@pass_context
def set_(context: Context, *, run_path: Path, changes: tuple[str, ...], reason: str) -> None:
    """Change constraints: a new epoch, in which v0 and the best are measured again."""
    from kbs.looping.changes import read_changes
    from kbs.looping.orders import give_order

    fields = read_changes(context, run_path, changes)
    give_order(context, run_path, "set", changes=fields, reason=reason)


@command.command("restart", epilog="Example: kbs loop restart run_20250101_120000 --mask half")
@RUN
@click.option("--mask", type=click.Choice(["half", "none"]), default="half", show_default=True,
              help="Half masks every second record between v0 and the last.")  # fmt: skip
@pass_context
def restart(context: Context, *, run_path: Path, mask: str) -> None:
    """Start afresh with about half of the middle records masked, never v0 nor the best."""
    from kbs.looping.orders import give_order
    from kbs.looping.stages import mask_half

    masked = mask_half(context, run_path) if mask == "half" else ()
    told = ", ".join(f"v{number}" for number in masked) or "nothing"
    give_order(context, run_path, "restart", told=f"masked {told}; ", reason=f"masked {told}")


@command.command("summarize", epilog="Example: kbs loop summarize run_20250101_120000")
@RUN
@pass_context
def summarize(context: Context, *, run_path: Path) -> None:
    """summary.md of the run as it stands; `kbs report` writes all reports."""
    from kbs.looping.home import open_run
    from kbs_engine.run.report_files import interim, report_texts
    from kbs_engine.run.view import read_run

    with open_run(context, run_path, writing=False) as run:
        view = read_run(run)
        text = report_texts(run, view).get("summary.md") or interim(view)
    if context.json:
        context.print_json({"run": str(run_path), "summary": text})
    else:
        click.echo(text, nl=False)


@command.command("finalize", epilog="Example: kbs loop finalize run_20250101_120000")
@RUN
@DEVICE
@RECORD
@click.option("--sync", "target", envvar="KBS_SYNC", default="",
              help="Exchange experience with this folder or URL. Default: KBS_SYNC.")  # fmt: skip
@pass_context
def finalize(
    context: Context, *, run_path: Path, device: str, record: Path | None, target: str
) -> None:
    """Final gate, benchmark and reports now, whatever is left to try; then sync and stats."""
    from kbs.looping.home import drive, open_run, status_shape, tell
    from kbs.looping.sharing import share
    from kbs.looping.waiting import fresh_orders
    from kbs_engine.loop.parts import Order

    with open_run(context, run_path) as run:
        if not run.state().ended or fresh_orders(run):
            run.journal.append("order", order=Order(kind="finalize"))
        went = drive(context, run, device=device, record=record)
    if not context.json:
        tell(context, run_path, went)
    shared = share(context, target)
    if context.json:
        context.print_json({**status_shape(run_path, went), "experience": shared})


@command.command("schema", epilog="Example: kbs loop schema request")
@click.argument("which", type=click.Choice(["request", "answer"]))
@pass_context
def schema(context: Context, *, which: str) -> None:
    """The JSON Schema of what a proposer's command is given, or of what it prints."""
    from kbs.proposers.command import schemas

    context.print_json(schemas()[which])
