"""kbs report: the reports of a run, written anew from its measured files."""

from __future__ import annotations

from pathlib import Path

import click

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs_engine.errors import RefusedError


@click.command("report", epilog="Example: kbs report run_20250101_120000 --html run.html")
@click.argument("run", metavar="RUN", type=PathType(file_okay=False))
@click.option("--html", "html_path", type=PathType(dir_okay=False),
              help="Where the HTML page goes. Default: RUN/report.html.")  # fmt: skip
@click.option("--stdout", is_flag=True, help="Print the Markdown summary and write nothing.")
@pass_context
def command(context: Context, *, run: Path, html_path: Path | None, stdout: bool) -> None:
    """Write benchmark.md, final_report.md, summary.md and report.html of a run.

    Every number comes from the run's measured files. What a person added to a report below the
    line `<!-- notes -->` is kept, and a version's analysis.md that says something else than what
    was measured is written again. A run without a final benchmark gets its page and what it has.
    """
    from kbs.render.run_html import run_page
    from kbs_engine.run import RunFolder
    from kbs_engine.run.report_files import interim, report_texts, version_texts
    from kbs_engine.run.view import read_run

    with RunFolder.open(run, home=context.home, writing=not stdout) as folder:
        view = read_run(folder)
        texts = report_texts(folder, view)
        if stdout:
            click.echo(texts.get("summary.md") or interim(view), nl=False)
            return
        texts |= version_texts(folder, view)
        for name, text in texts.items():
            folder.write_text(folder.root / name, text)
        page = html_path or folder.paths.html
        if page.resolve() == folder.paths.html.resolve():
            folder.write_text(folder.paths.html, run_page(view))
        else:
            _write(page, run_page(view))
    written = [*texts, str(page)]
    if context.json:
        context.print_json({"run": str(run), "written": written, "improved": view.state.improved})
    elif context.verbosity >= 0:
        click.echo("\n".join(written))


def _write(path: Path, text: str) -> None:
    from kbs_engine.durable import write_whole

    if path.is_dir():
        raise RefusedError("is a folder", where=str(path), remedy="name a file")
    write_whole(path, text)
