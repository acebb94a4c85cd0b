"""kbs wiki: check the knowledge, and scaffold new pages."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.home import shipped_wiki
from kbs.paths import PathType
from kbs_engine.errors import UsageError

LANGUAGES = ("cuda-cpp", "triton", "cutlass", "cute-dsl", "hip", "flydsl", "other")


@click.group("wiki", epilog="Example: kbs wiki check team-wiki")
@pass_context
def command(context: Context) -> None:
    """Check wikis, and write new pages with every key and heading."""
    del context


@command.command("check", epilog="Example: kbs wiki check team-wiki --json")
@click.argument("folders", nargs=-1, metavar="[DIR]...", type=PathType())
@pass_context
def check(context: Context, *, folders: tuple[Path, ...]) -> None:
    """Check whole wikis, with file and line of each fault; exit 1 when there are any.

    Without DIR: the shipped wiki and the overlays of --wiki. A DIR without metrics/ is laid over
    the shipped wiki, because its rules speak in the shipped metrics.
    """
    from kbs_ingest.wikicheck import check_wiki

    report = check_wiki(_roots(context, folders))
    if context.json:
        context.print_json(msgspec.to_builtins(report))
    else:
        for fault in report.faults:
            click.echo(str(fault))
        errors = sum(fault.severity == "error" for fault in report.faults)
        if context.verbosity >= 0:
            counts = ", ".join(
                f"{number} {name.replace('_', ' ')}" for name, number in report.checked.items()
            )
            click.echo(f"{errors} faults, {len(report.faults) - errors} warnings in {counts}")
    if not report.clean:
        click.get_current_context().exit(1)


def _roots(context: Context, folders: tuple[Path, ...]) -> tuple[Path, ...]:
    if not folders:
        return context.roots
    if (folders[0] / "metrics").is_dir():
        return folders
    return (shipped_wiki(), *folders)


@command.command("new", epilog="Example: kbs wiki new method my_method --dir team-wiki")
@click.argument("kind", type=click.Choice(["hardware", "method", "symptom"]))
@click.argument("name")
@click.option(
    "--dir",
    "folder",
    type=PathType(file_okay=False),
    help="The wiki to write into. Default: the last --wiki, else ./gpu-wiki.",
)
@click.option(
    "--vendor", type=click.Choice(["nvidia", "amd"]), default="nvidia", help="Of a hardware page."
)
@click.option(
    "--axis",
    type=click.Choice(["memory", "compute", "latency"]),
    default="memory",
    help="Of a method or a symptom.",
)
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default="cuda-cpp",
    help="First language of a method.",
)
@pass_context
def new(
    context: Context,
    *,
    kind: str,
    name: str,
    folder: Path | None,
    vendor: str,
    axis: str,
    language: str,
) -> None:
    """Write a page with every required key and heading; never overwrites one.

    `kbs wiki check` refuses the page only because of what is left to fill in, and names it.
    """
    from kbs_ingest.wikicheck import scaffold

    made = scaffold(
        kind,
        name,
        _target(context, folder),
        vendor=vendor,
        axis=axis,
        language=language,
        shipped=shipped_wiki(),
    )
    if context.json:
        holes = [{"line": line, "hint": hint} for line, hint in made.holes]
        shadows = str(made.shadows) if made.shadows else None
        context.print_json({"path": str(made.path), "holes": holes, "shadows": shadows})
        return
    click.echo(f"{made.path}: {len(made.holes)} things to fill in")
    if context.verbosity >= 0:
        if made.shadows:
            click.echo(
                f"note: {name} replaces {made.shadows} wherever both wikis are read", err=True
            )
        for line, hint in made.holes:
            click.echo(f"  {made.path}:{line}: {hint}")


def _target(context: Context, folder: Path | None) -> Path:
    if folder is not None:
        return folder
    if context.wikis:
        return context.wikis[-1]
    here = Path("gpu-wiki")
    if here.is_dir():
        return here
    raise UsageError(
        "no wiki to write into", where=str(Path.cwd()), remedy="name one with --dir DIR"
    )
