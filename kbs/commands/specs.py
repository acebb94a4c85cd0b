"""kbs specs: cited specs of a GPU."""

from __future__ import annotations

import click

from kbs.context import Context, pass_context
from kbs.render.shapes import spec_shape
from kbs_engine.facts import UNKNOWN_NOTE, Chip, Spec


@click.command("specs", epilog='Example: kbs specs "NVIDIA H100 80GB HBM3" memory_bandwidth')
@click.argument("gpu")
@click.argument("metric", required=False)
@click.option("--all", "everything", is_flag=True, help="Sparse and per-die rows too.")
@pass_context
def command(context: Context, *, gpu: str, metric: str | None, everything: bool) -> None:
    """Specs of GPU (an id, or the name that nvidia-smi, torch or rocminfo prints).

    A value that the wiki lacks is UNKNOWN (exit 0). A chip that it does not know is refused
    (exit 1); nothing is approximated.
    """
    chip = context.store().chip(gpu)
    rows = [spec for spec in chip.specs if metric is None or spec.metric == metric]
    if not everything and metric is None:
        rows = [row for row in rows if row.basis.density != "sparse" and row.basis.scope != "die"]
    if context.json:
        shapes = [spec_shape(chip, row) for row in rows] or [_unknown_shape(chip, metric)]
        context.print_json({"gpu": chip.id, "name": chip.name, "specs": shapes})
        return
    if not rows:
        click.echo(f"{chip.name} {metric}: {UNKNOWN_NOTE}")
        return
    for row in rows:
        click.echo(_line(chip, row, named=metric is not None))


def _line(chip: Chip, spec: Spec, *, named: bool) -> str:
    line = spec.cite(chip.name if named else "")
    if spec.value is None:
        return line
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
