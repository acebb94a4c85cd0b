"""kbs specs: cited specs of a GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

import click

from kbs.context import Context, pass_context
from kbs.render.shapes import spec_shape
from kbs.terminal import styled
from kbs_engine.errors import UsageError
from kbs_engine.facts import UNKNOWN_NOTE, Chip, Spec

_SIZE: Final = re.compile(r"(?<![\d.])(\d+) ?GB\b", re.IGNORECASE)
_VARIANT: Final = re.compile(r"(?<![\d.])(\d+) GB variant")
_HINTS: Final = 8
"""Ids that a hint names at most."""


@click.command("specs", epilog='Example: kbs specs "NVIDIA H100 80GB HBM3" memory_bandwidth')
@click.argument("gpu", required=False)
@click.argument("metric", required=False)
@click.option("--all", "everything", is_flag=True, help="Sparse and per-die rows too.")
@pass_context
def command(context: Context, *, gpu: str | None, metric: str | None, everything: bool) -> None:
    """Specs of GPU (an id, or the name that nvidia-smi, torch or rocminfo prints).

    Without GPU: the GPUs that the wiki knows. METRIC is an id or the words of the page.
    A value that the wiki lacks is UNKNOWN (exit 0). A chip that it does not know is refused
    (exit 1); nothing is approximated.
    """
    if metric is not None and not metric.strip():
        raise UsageError(
            "METRIC is empty: a variable that is not set?",
            remedy="leave it out for every spec of the GPU, or name one of them",
        )
    store = context.store()
    if gpu is None:
        _list_chips(context, store.chips())
        return
    chip = store.chip(gpu)
    rows = [row for row in chip.specs if everything or not _special(row)]
    if metric is not None:
        rows = _asked(rows, metric)
        rows = rows if everything else _of_variant(rows, gpu)
    if context.json:
        shapes = [spec_shape(chip, row) for row in rows] or [_unknown_shape(chip, metric)]
        context.print_json({"gpu": chip.id, "name": chip.name, "specs": shapes})
        return
    if metric is None:
        styled(f"{chip.name} ({chip.id}, {chip.arch})", bold=True)
    if not rows:
        click.echo(f"{chip.name} {metric}: {UNKNOWN_NOTE}")
        _hint(chip, metric or "")
    for row in rows:
        click.echo(_line(chip, row, listed=metric is None))


def _special(spec: Spec) -> bool:
    return spec.basis.density == "sparse" or spec.basis.scope == "die"


def _asked(rows: list[Spec], metric: str) -> list[Spec]:
    """Rows of this id, whatever its case; else rows whose words are these."""
    wanted = " ".join(metric.casefold().split())
    by_id = [row for row in rows if row.metric == wanted.replace(" ", "_")]
    return by_id or [row for row in rows if row.words.casefold() == wanted]


def _of_variant(rows: list[Spec], gpu: str) -> list[Spec]:
    """Without the rows of another memory size than the one in the GPU's name, where it has one."""
    size = _SIZE.search(gpu)
    if size is None:
        return rows
    variants = {id(row): _VARIANT.search(str(row.basis)) for row in rows}
    named = any(match and match[1] == size[1] for match in variants.values())
    return [
        row for row in rows if not named or (match := variants[id(row)]) is None
        or match[1] == size[1]
    ]  # fmt: skip


def _hint(chip: Chip, metric: str) -> None:
    """The ids that hold the words, or are spelled like them; else how to see all."""
    ids = list(dict.fromkeys(row.metric for row in chip.specs))
    words = metric.casefold().replace("_", " ").split()
    told = {row.metric: f"{row.metric} {row.words}".casefold() for row in chip.specs}
    near = [name for name in ids if all(word in told[name] for word in words)]
    near = near or get_close_matches(metric.casefold(), ids, n=3)
    if near:
        click.echo(f"did you mean {', '.join(near[:_HINTS])}?", err=True)
    else:
        click.echo(f"no spec of that name; `kbs specs {chip.id}` lists all", err=True)


def _list_chips(context: Context, chips: Sequence[Chip]) -> None:
    if context.json:
        rows = [
            {"id": chip.id, "name": chip.name, "vendor": chip.vendor, "arch": chip.arch,
             "aliases": list(chip.aliases)}
            for chip in chips
        ]  # fmt: skip
        context.print_json({"gpus": rows})
        return
    for chip in chips:
        click.echo(f"{chip.id:18} {chip.arch:10} {chip.name}")


def _line(chip: Chip, spec: Spec, *, listed: bool) -> str:
    line = f"{spec.metric:32} {spec.cite()}" if listed else spec.cite(chip.name)
    if spec.value is None:
        return f"{line}  ({spec.basis})" if spec.basis.remarks else line
    notes = [str(spec.basis), spec.source]
    return f"{line}  ({'; '.join(note for note in notes if note)})"


def _unknown_shape(chip: Chip, metric: str | None) -> dict[str, object]:
    return {
        "metric": metric,
        "words": metric,
        "value": None,
        "unit": "",
        "basis": "",
        "citation": f"{chip.name} {metric}: {UNKNOWN_NOTE}",
        "source": "",
        "grade": None,
        "measured": False,
    }
