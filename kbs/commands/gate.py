"""kbs gate: check a version of a run, and open the next one when it passes."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.paths import PathType


@click.command("gate", epilog="Example: kbs gate run_20250101_120000/v0 --verbose")
@click.argument("version", metavar="RUN/vK", type=PathType(file_okay=False))
@click.option("--final", is_flag=True, help="The last gate: every version, every number again.")
@click.option("--dry-run", is_flag=True, help="Only check; current_iteration.txt stays.")
@pass_context
def command(context: Context, *, version: Path, final: bool, dry_run: bool) -> None:
    """Let a version pass, or say why not: each reason on its line, with the fix.

    A version that passes moves current_iteration.txt and makes the next version's folder; the
    final gate opens nothing. --verbose names every rule that was asked.
    Exit 0 passed, 1 refused, 2 wrong usage.
    """
    from kbs.inspecting import gate_inspectors
    from kbs_engine.gate import RULES, check_version, parse_version, pass_version, unchecked
    from kbs_engine.run import RunFolder

    version = version.resolve()
    number = parse_version(version.name)
    root = version.parent
    with RunFolder.open(root, home=context.home) as run:
        # A broken chain is an answer of the gate; such a run cannot even be opened for writing.
        broken = run.journal.verify() is not None
        dry_run = dry_run or broken
        unsure = () if broken else unchecked(run)
    with RunFolder.open(root, home=context.home, writing=not dry_run) as run:
        inspectors = gate_inspectors(
            context.roots, root, known_record=lambda prefix: _known(context.home, prefix)
        )
        ask = check_version if dry_run else pass_version
        refusals = ask(run, number, final, inspectors)
        following = None if refusals or final or dry_run else run.current()
        healed = run.journal.healed
    asked = [rule for rule in RULES.values() if final or not rule.final]
    if context.json:
        context.print_json(
            {
                "version": number,
                "passed": not refusals,
                "final": final,
                "refusals": msgspec.to_builtins(refusals),
                "rules": [rule.id for rule in asked],
                "next": following,
                "unchecked": list(unsure),
            }
        )
    else:
        for refusal in refusals:
            click.echo(str(refusal))
        if context.verbosity > 0:
            refused = {refusal.rule for refusal in refusals}
            for rule in asked:
                click.echo(f"{'refused' if rule.id in refused else 'ok':<8}{rule.id}: {rule.title}")
        if healed:
            click.echo(f"the journal was healed: {healed}", err=True)
        for told in unsure if context.verbosity >= 0 else ():
            click.echo(told, err=True)
        if context.verbosity >= 0:
            click.echo(_answer(number, len(refusals), following, final=final))
    if refusals:
        click.get_current_context().exit(1)


def _known(home: Path, prefix: str) -> bool:
    from kbs_ingest.experience.query import find_record

    return bool(find_record(home, prefix))


def _answer(number: int, refused: int, following: int | None, *, final: bool) -> str:
    if refused:
        return f"v{number} refused: {refused} reason{'s' if refused > 1 else ''}"
    if following is not None:
        return f"v{number} passed; v{following} is open"
    return f"v{number} passed{' the final gate' if final else ''}"
