"""kbs audit: check spec citations in archived text."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from kbs import __version__
from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs.terminal import redrawn

if TYPE_CHECKING:
    from kbs_ingest.audit import AuditReport

FORMATS = ("text", "json", "sarif")


@click.command("audit", epilog="Example: kbs audit runs/ --strict")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=PathType())
@click.option("--format", "form", type=click.Choice(FORMATS), help="text, json or sarif (2.1.0).")
@click.option("--fix", is_flag=True, help="Re-anchor moved lines; nothing else is written.")
@click.option("--strict", is_flag=True, help="What is listed without an error fails too.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes for large trees.")
@pass_context
def command(
    context: Context,
    *,
    paths: tuple[Path, ...],
    form: str | None,
    fix: bool,
    strict: bool,
    jobs: int | None,
) -> None:
    """Check every spec citation in files and folders against the wiki.

    Exit 1 when one does not hold. Numbers without a citation, vague wording and words that a
    cited row does not explain are listed; with --strict they fail too.
    """
    from kbs_ingest.audit import audit_paths, load_knowledge, sarif_log

    form = form or ("json" if context.json else "text")
    bar = _Bar(shown=context.verbosity >= 0 and sys.stderr.isatty())
    try:
        report = audit_paths(
            paths, load_knowledge(context.roots), fix=fix, jobs=jobs, progress=bar.step
        )
    finally:
        bar.clear()
    if form == "json":
        context.print_json(_shape(report))
    elif form == "sarif":
        context.print_json(sarif_log(report, __version__, strict=strict))
    else:
        _tell(report, context)
    if report.failed(strict=strict):
        click.get_current_context().exit(1)


def _shape(report: AuditReport) -> dict[str, object]:
    return {
        "citations": msgspec.to_builtins(report.citations),
        "uncited": msgspec.to_builtins(report.uncited),
        "files": report.files,
        "notes": list(report.notes),
    }


def _tell(report: AuditReport, context: Context) -> None:
    for row in report.citations:
        if row.verdict != "ok" or context.verbosity > 0:
            detail = f" ({row.detail})" if row.detail else ""
            click.echo(f"{row.file}:{row.line}: {row.verdict}: {row.text}{detail}")
    for other in report.uncited:
        click.echo(f"{other.file}:{other.line}: {other.kind}: {other.text}")
    if context.verbosity < 0:
        return
    for note in report.notes:
        click.echo(note, err=True)
    verdicts = Counter(row.verdict for row in report.citations)
    kinds = Counter(row.kind for row in report.uncited)
    counts = ", ".join(f"{number} {name}" for name, number in (*verdicts.items(), *kinds.items()))
    click.echo(f"{report.files} files: {counts or 'no citation and no spec-like number'}")


class _Bar:
    """A progress bar on a terminal, and nothing elsewhere."""

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown
        self.begun = False

    def step(self, done: int, total: int) -> None:
        """Draw what is done; a single file is too quick to be worth it."""
        if not self.shown or total <= 1:
            return
        self.begun = True
        width = 30 * done // total
        redrawn(f"[{'#' * width:<30}] {done}/{total} files")

    def clear(self) -> None:
        """Leave the line to what comes next."""
        if self.begun:
            redrawn("")
