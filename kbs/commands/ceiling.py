"""kbs ceiling: what this GPU really reaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs_backends.ceilings import answer, failures, page, record_ceilings
from kbs_engine.durable import require_writable, write_whole
from kbs_engine.errors import InputError
from kbs_engine.inputs import read_regular
from kbs_engine.results import MeasuredCeiling

_SCALES = {"bytes/s": (1e12, "TB/s"), "ops/s": (1e12, "T/s"), "ns": (1.0, "ns")}


@click.command(
    "ceiling",
    epilog="Example: kbs ceiling --dtype fp16 --dtype tf32 --save ./my-wiki",
)
@click.option("--dtype", "dtypes", multiple=True, help="Matrix product of this type. Default: all.")
@click.option("--gpu", type=click.IntRange(min=0), default=0, help="Index of the GPU.")
@click.option("--buffer-mib", type=click.IntRange(min=16), default=1024, show_default=True)
@click.option(
    "--save", type=PathType(file_okay=False),
    help="Write a page of measured values into this wiki folder.",
)  # fmt: skip
@click.option("--chip", help="Id of the hardware page, when the card's name tells no chip.")
@click.option("--record", "recording", type=PathType(), help="Keep all samples.")
@click.option(
    "--from", "source", type=PathType(exists=True, dir_okay=False),
    help="Measure nothing: read a recording of --record.",
)  # fmt: skip
@pass_context
def command(
    context: Context,
    *,
    dtypes: tuple[str, ...],
    gpu: int,
    buffer_mib: int,
    save: Path | None,
    chip: str | None,
    recording: Path | None,
    source: Path | None,
) -> None:
    """Measure copy, read and write bandwidth, matrix throughput and the time of an empty launch.

    Clocks are left as found. Exit 1 when something could not be measured.
    """
    for folder in (save, recording.parent if recording else None):
        if folder is not None:
            require_writable(folder)
    store = context.store() if save else None
    record = (
        read_recording(source)
        if source
        else record_ceilings(dtypes=dtypes, gpu=gpu, buffer_mib=buffer_mib)
    )
    if recording:
        write_whole(recording, json.dumps(record, indent=1) + "\n")
    saved = None
    if save and store:
        found = store.chip(chip or record["device"]["name"])
        saved = save / "measured" / f"{found.id}_measured.md"
        write_whole(saved, page(record, found))
    _show(context, record, saved)
    if failures(record):
        raise SystemExit(1)


def read_recording(path: Path) -> dict[str, Any]:
    """A recording of ``--record``; InputError when it is none."""
    try:
        record: Any = json.loads(read_regular(path))
        answer(record)
        _ = record["device"]["name"], record["gpu"], record["states"], record["versions"]
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as problem:
        raise InputError(
            f"no recording of ceilings: {type(problem).__name__}: {problem}",
            where=str(path),
            remedy="make one with kbs ceiling --record FILE",
        ) from problem
    return dict(record)


def _show(context: Context, record: dict[str, Any], saved: Path | None) -> None:
    values, failed = answer(record).values, failures(record)
    if context.json:
        shape = {
            "gpu": record["device"]["name"], "date": record["date"], "state": record["gpu"],
            "versions": record["versions"], "failed": failed,
            "ceilings": [msgspec.to_builtins(value) for value in values],
            "page": str(saved) if saved else None,
        }  # fmt: skip
        context.print_json(shape)
        return
    click.echo(f"{record['device']['name']}, {record['date']}, clocks as found")
    for value in values:
        click.echo(_line(value))
    for text in failed:
        click.echo(f"not measured: {text}", err=True)
    if saved:
        click.echo(f"page: {saved}; index it with kbs --wiki {saved.parent.parent} ingest")


def _line(value: MeasuredCeiling) -> str:
    scale, unit = _SCALES[value.unit]
    return f"  {value.metric:22s} {value.value / scale:10.5g} {unit:5s} {value.how}"
