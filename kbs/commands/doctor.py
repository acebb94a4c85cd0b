"""kbs doctor: what works on this machine."""

from __future__ import annotations

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.terminal import styled
from kbs_backends.clock_lease import restore, stale_leases
from kbs_backends.environment import Finding, survey
from kbs_backends.environment_isolation import find_isolation
from kbs_engine.errors import KbsError


@click.command("doctor", epilog="Example: kbs doctor --format markdown > env_check.md")
@click.option(
    "--format", "style", type=click.Choice(["text", "markdown"]), default="text",
    show_default=True,
)  # fmt: skip
@pass_context
def command(context: Context, *, style: str) -> None:
    """What is here, what each missing part costs, and how to get it.

    Exit 0 when reports can be turned into recommendations; what only measuring needs is
    listed and does not fail.
    """
    knowledge = [_wiki(context), _index(context)]
    findings = [*knowledge, *survey(), *find_isolation(), *_leases(context)]
    ready = all(finding.state == "ok" for finding in knowledge)
    if context.json:
        rows = [msgspec.to_builtins(finding) for finding in findings]
        context.print_json({"ready": ready, "findings": rows})
    elif style == "markdown":
        _markdown(findings)
    else:
        _text(findings)
    if not ready:
        raise SystemExit(1)


def _wiki(context: Context) -> Finding:
    try:
        roots = context.roots
    except KbsError as error:
        return Finding(
            part="wiki", state="missing", detail=error.message,
            costs="nothing can be cited", remedy=error.remedy,
        )  # fmt: skip
    return Finding(part="wiki", state="ok", detail=", ".join(str(root) for root in roots))


def _index(context: Context) -> Finding:
    try:
        store = context.store()
    except KbsError as error:
        return Finding(
            part="index", state="missing", detail=error.message,
            costs="no command that asks the knowledge base works", remedy=error.remedy,
        )  # fmt: skip
    counts = ", ".join(f"{count} {name}" for name, count in store.stats().items())
    return Finding(part="index", state="ok", detail=counts)


def _leases(context: Context) -> list[Finding]:
    """Clocks that a killed run left locked are restored here."""
    part = "locked clocks"
    costs = "timings are made at a clock that nobody chose"
    try:
        stale = stale_leases(context.home)
        for path in stale:
            restore(path)
    except KbsError as error:
        return [
            Finding(part=part, state="failed", detail=str(error), costs=costs, remedy=error.remedy)
        ]
    detail = f"{len(stale)} left by killed runs, restored" if stale else "none left behind"
    return [Finding(part=part, state="ok", detail=detail)]


def _text(findings: list[Finding]) -> None:
    for finding in findings:
        mark = {"ok": "ok     ", "missing": "missing", "failed": "failed "}.get(
            finding.state, "-      "
        )
        colour = {"ok": "green", "missing": "yellow", "failed": "red"}.get(finding.state)
        styled(f"{mark} ", fg=colour, nl=False)
        click.echo(f"{finding.part}: {finding.detail}")
        if finding.state != "ok":
            click.echo(f"          without it: {finding.costs}")
            if finding.remedy:
                click.echo(f"          remedy: {finding.remedy}")


def _markdown(findings: list[Finding]) -> None:
    click.echo("| part | state | detail | without it | remedy |\n|---|---|---|---|---|")
    for row in findings:
        cells = (row.part, row.state, row.detail, row.costs, row.remedy)
        click.echo("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
