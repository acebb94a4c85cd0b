"""kbs capsule: a run's claim in one file."""

from __future__ import annotations

from pathlib import Path

import click

from kbs import __version__
from kbs.context import Context, pass_context
from kbs.paths import PathType


@click.command("capsule", epilog="Example: kbs capsule run_20260131_120000")
@click.argument("run", type=PathType())
@click.option(
    "--output",
    type=PathType(dir_okay=False),
    help="The file. Default: RUN.capsule.zip beside the run.",
)
@pass_context
def command(context: Context, *, run: Path, output: Path | None) -> None:
    """Pack v0, the champion, the reference, the settings and the claim of RUN into one file.

    `kbs replicate` times them again on another machine. One run gives the same bytes each time.
    Exit 1 where the run does not prove the claim: what was edited after it was measured is told.
    """
    from kbs.experience.options import lore_of
    from kbs_engine.durable import write_whole
    from kbs_engine.experience.capsule import pack
    from kbs_engine.experience.packing import capsule_of_run
    from kbs_engine.gate import unchecked
    from kbs_engine.run import RunFolder
    from kbs_ingest.experience.query import outcomes_of_run

    with RunFolder.open(run.resolve(), home=context.home) as folder:
        state = folder.state()
        targets = outcomes_of_run(context.home, lore_of(context), state.run_id)
        manifest, files = capsule_of_run(folder, targets=targets, kbs_version=__version__)
        unsure = unchecked(folder)
    path = output or run.resolve().with_name(f"{run.resolve().name}.capsule.zip")
    write_whole(path, pack(manifest, files))
    if context.json:
        claim = {"ratio": manifest.claim.ratio, "low": manifest.claim.low,
                 "high": manifest.claim.high}  # fmt: skip
        context.print_json(
            {"capsule": str(path), "claim": claim, "files": manifest.files,
             "targets": list(manifest.targets), "unchecked": list(unsure)}
        )  # fmt: skip
    elif context.verbosity >= 0:
        for told in unsure:
            click.echo(told, err=True)
        claimed = manifest.claim
        click.echo(
            f"{path}: v{manifest.version} against v0, {claimed.ratio:.3f} times as fast "
            f"({claimed.low:.3f} to {claimed.high:.3f})"
        )
