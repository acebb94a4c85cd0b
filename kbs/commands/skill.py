"""kbs skill: the agent skill that teaches the loop."""

from __future__ import annotations

from pathlib import Path

import click

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs_engine.durable import write_whole
from kbs_engine.errors import RefusedError

NAME = "kbs"


def skill_files() -> dict[str, bytes]:
    """The skill's pages by relative name."""
    folder = Path(__file__).resolve().parent.parent / "skill"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*.md"))
    }


def install(target: Path, *, force: bool = False) -> list[Path]:
    """Write the skill to ``target/kbs``; the files written.

    Raises:
        RefusedError: A file there was changed by somebody; nothing was written.
        StoreError: The folder cannot be written.
    """
    wanted = {target / NAME / name: data for name, data in skill_files().items()}
    changed = [p for p, data in wanted.items() if p.exists() and p.read_bytes() != data]
    if changed and not force:
        raise RefusedError(
            f"{len(changed)} files differ from this version's skill",
            where=", ".join(str(path) for path in changed[:3]),
            remedy="keep your changes elsewhere and use --force, or name another --target",
        )
    for path, data in wanted.items():
        write_whole(path, data)
    return list(wanted)


@click.group("skill", epilog="Example: kbs skill install --target .claude/skills")
@pass_context
def command(context: Context) -> None:
    """The skill folder (SKILL.md and sub-skills) that teaches an agent the loop."""
    del context


@command.command("install", epilog="Example: kbs skill install --target .claude/skills")
@click.option(
    "--target",
    required=True,
    type=PathType(file_okay=False),
    help="Folder of skills; the skill goes into its subfolder kbs.",
)
@click.option("--force", is_flag=True, help="Write over files that were changed.")
@pass_context
def install_command(context: Context, *, target: Path, force: bool) -> None:
    """Write SKILL.md and its sub-skills below TARGET/kbs."""
    written = install(target, force=force)
    if context.json:
        context.print_json({"installed": [str(path) for path in written]})
    elif context.verbosity >= 0:
        for path in written:
            click.echo(str(path))


@command.command("list", epilog="Example: kbs skill list")
@pass_context
def list_command(context: Context) -> None:
    """The pages of the skill."""
    names = list(skill_files())
    if context.json:
        context.print_json({"pages": names})
        return
    for name in names:
        click.echo(name)
