"""kbs bench: how fast a kernel is, against baselines, in figures that can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbs.context import Context, pass_context
from kbs.measuring.dims import FREE_DIMS
from kbs.measuring.options import (
    FILE,
    FOLDER,
    device_options,
    take_device,
    take_task,
    task_options,
)
from kbs.subjects import FiniteRange
from kbs_engine.errors import UsageError
from kbs_engine.jobs import MOST_PROCESS_PAIRS, MOST_TRIALS

if TYPE_CHECKING:
    from kbs.measuring.benching import Benched


@click.command(
    "bench",
    context_settings=FREE_DIMS,
    epilog="Example: kbs bench kernel.cu --ref ref.py --M=4096 --baselines all --output-dir out",
)
@click.argument("kernel", type=FILE)
@task_options
@device_options
@click.option(
    "--baselines", multiple=True, default=("pytorch-eager",), show_default=True,
    help="pytorch-eager, torch-compile, flashinfer (commas or repeated), all or none.",
)  # fmt: skip
@click.option("--output-dir", type=FOLDER, help="Write benchmark.md and benchmark.json here.")
@click.option(
    "--timing-method", type=click.Choice(("cuda_event", "host_time", "do_bench")),
    default="cuda_event", show_default=True, help="do_bench is Triton's, for comparison only.",
)  # fmt: skip
@click.option("--num-warmup", type=click.IntRange(min=0), default=5, show_default=True)
@click.option("--warmup-ms", type=FiniteRange(), default=25.0, show_default=True)
@click.option("--num-trials", type=click.IntRange(1, MOST_TRIALS), default=100, show_default=True)
@click.option("--discard-first", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--prewarm-calls", type=click.IntRange(min=0), default=1, show_default=True)
@click.option(
    "--process-pairs", type=click.IntRange(1, MOST_PROCESS_PAIRS), default=3, show_default=True,
    help="Times that all processes are started anew.",
)  # fmt: skip
@click.option("--noise", type=FiniteRange(), default=0.02, show_default=True,
              help="Effects below this share are called noise.")  # fmt: skip
@click.option(
    "--seed", type=int, expose_value=False,
    help="Accepted and not used: inputs are secret, intervals the same every time.",
)  # fmt: skip
@pass_context
def command(context: Context, *, kernel: Path, output_dir: Path | None, **options: Any) -> None:
    """Check a kernel, then time it in turns with the baselines, every output compared.

    Exit 1 when the kernel is wrong or refused.
    """
    from kbs.measuring.benching import bench_json, chosen_baselines, run_bench
    from kbs.measuring.devices import measuring
    from kbs.measuring.subject import read_subject, told_by_name
    from kbs_engine.durable import require_writable

    if output_dir is not None:
        require_writable(output_dir)
    _fits(options["timing_method"], options["device"])
    baselines = chosen_baselines(options.pop("baselines"))
    settings = _settings(options)
    pairs, noise = options.pop("process_pairs"), options.pop("noise")
    task_given = take_task(options)
    with told_by_name(task_given.reference), measuring(context, take_device(options)) as device:
        done = run_bench(
            device, read_subject(kernel, task_given, device.blobs), baselines=baselines,
            settings=settings, process_pairs=pairs, noise=noise,
        )  # fmt: skip
    if output_dir is not None:
        _write(done, output_dir)
    if context.json:
        context.print_json(bench_json(done))
    else:
        _show(done, task_given.reference.name, output_dir)
    if not done.bench.correct:
        click.get_current_context().exit(1)


def _fits(method: str, device: str) -> None:
    """UsageError for a timer that the device does not have; nothing is checked before."""
    if method == "do_bench" and device == "host":
        raise UsageError(
            "do_bench times GPU kernels only", where="--timing-method",
            remedy="leave it out, or use --timing-method host_time",
        )  # fmt: skip


def _settings(options: dict[str, Any]) -> Any:
    from kbs.measuring.options import timing_settings

    fields = {
        "method": options.pop("timing_method"),
        "warmup_calls": options.pop("num_warmup"),
        "warmup_ms": options.pop("warmup_ms"),
        "trials": options.pop("num_trials"),
        "discard_first": options.pop("discard_first"),
        "prewarm_calls": options.pop("prewarm_calls"),
    }
    return timing_settings("--num-trials", **fields)


def _write(done: Benched, folder: Path) -> None:
    import msgspec

    from kbs.measuring.bench_text import bench_markdown
    from kbs.measuring.benching import bench_json
    from kbs_engine.durable import write_whole

    write_whole(folder / "benchmark.md", bench_markdown(done))
    document = msgspec.json.format(msgspec.json.encode(bench_json(done)), indent=2)
    write_whole(folder / "benchmark.json", document + b"\n")
    write_whole(folder / "bench.json", msgspec.json.encode(done.bench) + b"\n")


def _show(done: Benched, reference: str, folder: Path | None) -> None:
    from kbs.measuring.bench_text import bench_lines

    source = done.subject.source
    dims = " ".join(f"{name}={value}" for name, value in done.subject.task.dims.items())
    click.echo(f"{source.name}  {source.language}  against {reference}  {dims}".rstrip())
    for line in bench_lines(done):
        click.echo(line)
    timed = done.timed
    for note in (*done.notes, *done.subject.notes, *(timed.warnings if timed else ())):
        click.echo(f"  note: {note}")
    if folder is not None:
        click.echo(f"  written: {folder / 'benchmark.md'}")
