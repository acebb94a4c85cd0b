"""The option --plot: a hierarchical roofline of what a command speaks of, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kbs.paths import PathType
from kbs_engine.chartdata import ChartLaunch, chart_data

plot_option = click.option(
    "--plot",
    type=PathType(dir_okay=False),
    metavar="FILE.svg",
    help="Draw the roofline into this SVG file.",
)


def write_plot(path: Path, launches: Sequence[ChartLaunch]) -> None:
    """Draw ``launches`` and say on stderr where."""
    from kbs.render.svg import write_chart

    write_chart(chart_data(launches), path)
    click.echo(f"wrote {path}", err=True)
