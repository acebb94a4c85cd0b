"""kbs diff: why one of two profiles of one task is the faster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs.subjects import Selection, read_subjects
from kbs_engine.difference import compare
from kbs_engine.differences import Difference
from kbs_engine.execution import as_one_call
from kbs_engine.profiles import Profile


@click.command(
    "diff",
    epilog="Example: kbs diff before.ncu-rep after.ncu-rep --launch-a 1 --launch-b 3",
)
@click.argument("first", metavar="A", type=PathType())
@click.argument("second", metavar="B", type=PathType())
@click.option("--launch-a", type=int, multiple=True, help="Only this launch id of A. Repeatable.")
@click.option("--launch-b", type=int, multiple=True, help="Only this launch id of B. Repeatable.")
@click.option("--name", help="Only kernels whose name matches this pattern, on both sides.")
@click.option("--one-call", is_flag=True, help="Sum the launches of each side as one call.")
@pass_context
def command(
    context: Context,
    *,
    first: Path,
    second: Path,
    launch_a: tuple[int, ...],
    launch_b: tuple[int, ...],
    name: str | None,
    one_call: bool,
) -> None:
    """Why B is faster or slower than A: two reports of one task, split into measured factors.

    As many launches on both sides are compared in order, else each side is summed as one call.
    """
    sides = (
        _profiles(context, first, launch_a, name),
        _profiles(context, second, launch_b, name),
    )
    found = compare_profiles(*sides, one_call=one_call)
    if context.json:
        from kbs.render.difference import difference_shape

        context.print_json({"pairs": [difference_shape(row) for row in found]})
        return
    from kbs.render.difference import show_difference

    console = context.console()
    for row in found:
        show_difference(console, row, verbose=context.verbosity > 0)


def compare_profiles(
    first: Sequence[Profile], second: Sequence[Profile], *, one_call: bool
) -> tuple[Difference, ...]:
    """Launch by launch where both sides have as many, else one call against one call."""
    if one_call or len(first) != len(second):
        return (compare(as_one_call(first), as_one_call(second)),)
    return tuple(
        compare(as_one_call([a]), as_one_call([b])) for a, b in zip(first, second, strict=True)
    )


def _profiles(
    context: Context, path: Path, launches: tuple[int, ...], name: str | None
) -> list[Profile]:
    selection = Selection(launches=launches, name=name)
    subjects = read_subjects([path], selection, context.store())
    return [subject.profile for subject in subjects]
