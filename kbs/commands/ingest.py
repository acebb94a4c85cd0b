"""kbs ingest: index the wiki and the experience log."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.terminal import redrawn
from kbs_engine.errors import KbsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbs_ingest.store import IngestSummary


@click.command("ingest", epilog="Example: kbs --wiki team-wiki ingest")
@click.option("--rebuild", is_flag=True, help="Build everything anew; answers stay the same.")
@click.option(
    "--embedding-model",
    help="Folder or name of a sentence-transformers model. `none` indexes words alone.",
)
@pass_context
def command(context: Context, *, rebuild: bool, embedding_model: str | None) -> None:
    """Index wiki, methods, symptoms, signatures and experience.

    Only what changed since the last time is read again. Commands that run meanwhile keep the
    index that they opened.
    """
    from kbs_ingest.store import ingest

    before = _indexed_roots(context)
    with Progress(context) as progress:
        summary = ingest(
            context.home,
            context.roots,
            rebuild=rebuild,
            embedding_model=embedding_model,
            progress=progress,
        )
    dropped = sorted(before - {str(root) for root in context.roots})
    if dropped:
        click.echo(f"no longer indexed: {', '.join(dropped)} (name it with --wiki)", err=True)
    if context.json:
        context.print_json(msgspec.to_builtins(summary))
        return
    _tell(summary, context)


def _indexed_roots(context: Context) -> set[str]:
    """Wiki folders of the index so far; none when there is no usable index yet."""
    from kbs_ingest.store import open_store

    try:
        with open_store(context.home) as store:
            return set(store.manifest.roots.values())
    except KbsError:
        return set()


def _tell(summary: IngestSummary, context: Context) -> None:
    if context.verbosity >= 0:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(summary.counts.items()))
        done = "indexed" if summary.changed else "nothing changed"
        click.echo(f"{done}: generation {summary.generation} in {summary.seconds:.1f} s; {counts}")
    for note in summary.notes:
        click.echo(note, err=True)
    for bad in summary.bad_lines:
        click.echo(f"left out {bad.file}:{bad.line}: {bad.reason}", err=True)


class Progress:
    """A progress bar on a terminal, one plain line per step elsewhere, nothing with -q."""

    def __init__(self, context: Context) -> None:
        self.quiet = context.json or context.verbosity < 0
        self.terminal = sys.stderr.isatty()
        self.last = ""

    def __enter__(self) -> Callable[[str, int, int], None]:
        return self.step

    def __exit__(self, *_: object) -> None:
        if self.last and self.terminal and not self.quiet:
            click.echo("", err=True)

    def step(self, name: str, done: int, total: int) -> None:
        """Show one step; called by ingest."""
        if self.quiet:
            return
        if self.terminal:
            redrawn(f"{name} {done}/{total}")
        elif name != self.last:
            click.echo(f"{name} …", err=True)
        self.last = name
