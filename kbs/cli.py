"""The command line: one group whose commands are imported only when they run."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from kbs import __version__
from kbs.context import Context
from kbs.failures import closed_output_told, prepare_output, report_failure
from kbs.paths import PathType

COMMANDS: dict[str, str] = {
    "asm": "Machine code of a kernel, its resources, and which methods its opcodes prove.",
    "audit": "Spec citations in archived text, checked against the wiki.",
    "baseline": "A first correct kernel from PyTorch code.",
    "capsule": "Pack a run's claim (kernels, reference, settings) into one file.",
    "ceiling": "What this GPU really reaches: bandwidths, matrix rates, launch time.",
    "bench": "Time of a kernel against baselines, every timed output compared.",
    "check": "Correctness of a kernel against its reference, in a process of its own.",
    "diagnose": "Causes, limiter and roofline of a profile.",
    "diff": "Why one of two profiles of a task is faster, split into measured factors.",
    "doctor": "What works on this machine, and what each missing part costs.",
    "eval": "Accuracy on labelled kernels and cases, beside plain baselines.",
    "experience": "The log of what methods did: record, merge, ask, exchange.",
    "gate": "Check a version of a run; open the next one when it passes.",
    "loop": "The loop by steps: for whoever writes the kernels.",
    "optimize": "The whole loop: a faster kernel with a proof, or an honest no better.",
    "ingest": "Index the wiki and the experience log.",
    "memory": "Version records of a run; masked ones stay out of every plan.",
    "profile": "Hardware counters of one call of a kernel, and what limits it.",
    "query": "Search the knowledge base, with citations.",
    "recommend": "Ranked methods with their evidence, from a profile or from symptoms.",
    "replicate": "Measure the claim of a capsule again here.",
    "report": "Reports of a run, written anew from its measured files; Markdown and HTML.",
    "roofline": "Roofs of a task from cited specs, alone or against a profile.",
    "skill": "Install the agent skill.",
    "specs": "Cited specs of a GPU.",
    "wiki": "Check wikis with file and line of each fault; scaffold new pages.",
    "utilization": "Occupancy, waves, tail and tile minimum of a grid, from cited limits.",
}
"""Every command: its module under kbs.commands has the same name."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the arguments; --help prints here already."""
        with closed_output_told():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; output that nobody reads any more is told from an answer of no."""
        with closed_output_told():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All command names, sorted."""
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"kbs.commands.{cmd_name}").command
        if not isinstance(command, click.Command):
            msg = f"kbs.commands.{cmd_name}.command is no click command"
            raise TypeError(msg)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: kbs ingest && kbs recommend report.ncu-rep",
)
@click.version_option(__version__, prog_name="kbs")
@click.option(
    "--home",
    type=PathType(file_okay=False),
    help="Folder of the index and the experience log. Default: $KBS_HOME, else the user's data.",
)
@click.option(
    "--wiki",
    "wikis",
    multiple=True,
    type=PathType(),
    help="Overlay a wiki of your own on the shipped one. Repeatable; later ones win.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-v", "--verbose", count=True, help="Tell more.")
@click.option("-q", "--quiet", is_flag=True, help="Tell only the answer.")
@click.pass_context
def cli(
    ctx: click.Context,
    *,
    home: Path | None,
    wikis: tuple[Path, ...],
    as_json: bool,
    verbose: int,
    quiet: bool,
) -> None:
    """Evidence-based optimization of GPU kernels.

    A measured profile becomes causes, a roofline with cited specs, and ranked methods.
    """
    context = ctx.ensure_object(Context)
    context.home_option, context.wikis = home, wikis
    context.json = as_json
    context.verbosity = -1 if quiet else verbose


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 the answer is no, 2 wrong usage or input."""
    prepare_output()
    arguments = sys.argv[1:] if argv is None else argv
    try:
        code = cli.main(arguments, prog_name="kbs", standalone_mode=False, obj=Context())
        sys.stdout.flush()
    except BaseException as failure:  # noqa: BLE001 - the one boundary that reports
        sys.exit(report_failure(failure, arguments))
    sys.exit(code if isinstance(code, int) else 0)
