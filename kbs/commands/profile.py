"""kbs profile: hardware counters of one call of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

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

if TYPE_CHECKING:
    from kbs.measuring.profiling import Profiling
    from kbs_engine.blobs import BlobStore
    from kbs_engine.jobs import SourceRef


@click.command(
    "profile",
    context_settings=FREE_DIMS,
    epilog="Example: kbs profile kernel.py --ref ref.py --dims M=4096,N=4096 --adaptive",
)
@click.argument("kernel", type=FILE)
@task_options
@device_options
@click.option(
    "--output-dir",
    type=FOLDER,
    default=Path("kbs-profile"),
    show_default=True,
    help="Where ncu_summary.md, ncu_details.md, ncu_top.json and the report go.",
)
@click.option(
    "--adaptive",
    is_flag=True,
    help="Cheap sections first, then only what separates the leading causes.",
)
@click.option(
    "--ncu-num",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Metrics per axis in ncu_top.json.",
)
@click.option("--chip", help="GPU id or alias, when the report does not tell.")
@pass_context
def command(
    context: Context,
    *,
    kernel: Path,
    output_dir: Path,
    adaptive: bool,
    ncu_num: int,
    chip: str | None,
    **options: Any,
) -> None:
    """Profile exactly one call of a kernel, and say what limits it.

    Where counters cannot be read the files say so, and nothing is claimed that needs them.
    """
    from kbs.measuring.devices import measuring
    from kbs.measuring.profiling import profile_kernel
    from kbs.measuring.subject import read_subject, told_by_name
    from kbs_engine.durable import require_writable

    require_writable(output_dir)
    task_given = take_task(options)
    named = told_by_name(task_given.reference)
    with named, context.store() as store, measuring(context, take_device(options)) as bench:
        subject = read_subject(kernel, task_given, bench.blobs)
        found = profile_kernel(bench, subject, store, adaptive=adaptive, chip=chip)
        files = write_files(output_dir, subject.source, found, bench.blobs, ncu_num=ncu_num)
        notes = (*bench.notes, *subject.notes, *found.notes)
    _show(context, found, files, notes)


def write_files(
    folder: Path, source: SourceRef, found: Profiling, blobs: BlobStore, *, ncu_num: int
) -> tuple[Path, ...]:
    """The three documents, and the reports of the passes."""
    from kbs_engine.durable import write_whole
    from kbs_engine.reports import ncu_details, ncu_summary, ncu_top

    diagnoses = [item.diagnosis for item in found.diagnoses]
    why = found.why_not
    top = ncu_top(0, source.sha256, found.profiles, diagnoses, ncu_num=ncu_num)
    texts: dict[str, str | bytes] = {
        "ncu_summary.md": ncu_summary(source.name, found.profiles, diagnoses, why_not=why),
        "ncu_details.md": ncu_details(source.name, found.profiles, why_not=why),
        "ncu_top.json": msgspec.json.format(msgspec.json.encode(top), indent=2) + b"\n",
    }
    for number, answer in enumerate(found.passes, start=1):
        if answer.report_sha256:
            suffix = Path(answer.report_name).suffix
            texts[f"pass{number}{suffix}"] = blobs.get(answer.report_sha256)
        if answer.log:
            texts[f"pass{number}.log"] = answer.log
    for name, text in texts.items():
        write_whole(folder / name, text)
    return tuple(folder / name for name in texts)


def _show(
    context: Context, found: Profiling, files: tuple[Path, ...], notes: tuple[str, ...]
) -> None:
    from kbs.render.shapes import diagnosis_shape
    from kbs.render.text import show_diagnosis

    if context.json:
        context.print_json(
            {
                "mode": found.passes[0].mode,
                "why_not": found.why_not or None,
                "kernels": [diagnosis_shape(item.diagnosis) for item in found.diagnoses],
                "passes": [msgspec.to_builtins(plan) for plan in found.plans if found.profiles],
                "files": [str(path) for path in files],
                "notes": list(notes),
            }
        )
        return
    console = context.console()
    if found.why_not:
        console.print(found.why_not)
    for item in found.diagnoses:
        show_diagnosis(console, item.diagnosis, verbose=context.verbosity > 0)
    for plan in found.plans if found.profiles else ():
        asked = ", ".join((*plan.sections, *plan.metrics)) or "nothing more was needed"
        console.print(f"  pass {plan.number}: {asked}", style="dim")
    for path in files:
        console.print(f"  wrote {path}", style="dim")
    for note in notes:
        console.print(f"  note: {note}")
