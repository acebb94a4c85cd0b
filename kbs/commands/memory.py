"""kbs memory: the version records of a run; masked ones stay out of every plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from kbs.context import Context, pass_context
from kbs.paths import PathType
from kbs_engine.errors import InputError, UsageError

if TYPE_CHECKING:
    from kbs_engine.run.memories import Memory
    from kbs_engine.run.memory_record import MemoryRecord

RUN = click.argument("run", metavar="RUN", type=PathType(file_okay=False))
VERSION = click.argument("version", metavar="VERSION")
VERSIONS = click.argument("versions", metavar="VERSION...", nargs=-1, required=True)


@click.group("memory", epilog="Example: kbs memory summary run_20250101_120000")
@pass_context
def command(context: Context) -> None:
    """Read and write memory/v<N>.json of a run. RUN is a run or a workspace with a memory folder.

    A masked record counts as discarded: it is not returned unless --masked asks for it.
    """
    del context


@command.command("init", epilog="Example: kbs memory init run_20250101_120000")
@RUN
@pass_context
def init(context: Context, *, run: Path) -> None:
    """Make the memory folder; records that are there stay."""
    memory = _memory(run)
    memory.init()
    _answer(context, {"folder": str(memory.folder)}, f"{memory.folder} is there")


@command.command("create", epilog="Example: kbs memory create RUN 1 --from record.json")
@RUN
@VERSION
@click.option("--from", "source", type=PathType(dir_okay=False),
              help="A JSON record to start from.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="A.B=VALUE", help="Set a field.")
@pass_context
def create(
    context: Context, *, run: Path, version: str, source: Path | None, settings: tuple[str, ...]
) -> None:
    """Write a new record; one that stands is never overwritten."""
    from kbs_engine.run.files import read_record
    from kbs_engine.run.legacy_memory import modern
    from kbs_engine.run.memories import changed
    from kbs_engine.run.memory_record import MemoryRecord

    number = _number(version)
    record = MemoryRecord(version=number)
    if source is not None:
        try:
            read = read_record(source, MemoryRecord, before=modern)
        except InputError as problem:
            raise InputError(
                problem.message,
                where=problem.where,
                remedy="name a memory record (memory/v<N>.json); docs/gate.md lists its fields",
            ) from problem
        record = msgspec.structs.replace(read, version=number)
    memory = _memory(run)
    if settings:
        record = changed(record, _settings(settings))
    memory.init()
    memory.create(record)
    _answer(context, record, f"{memory.path(number)} written")


@command.command("read", epilog="Example: kbs memory read RUN 1")
@RUN
@VERSION
@click.option("--masked", is_flag=True, help="Show the record even when it is masked.")
@pass_context
def read(context: Context, *, run: Path, version: str, masked: bool) -> None:
    """One record as JSON; exit 1 when it is masked."""
    memory = _memory(run)
    number = _number(version)
    context.print_json(memory.load(number) if masked else memory.read(number))


@command.command("update", epilog="Example: kbs memory update RUN 1 --set correctness.status=PASS")
@RUN
@VERSION
@click.option("--set", "settings", multiple=True, required=True, metavar="A.B=VALUE",
              help="Field by dotted path; the value is JSON where it reads as JSON.")  # fmt: skip
@pass_context
def update(context: Context, *, run: Path, version: str, settings: tuple[str, ...]) -> None:
    """Set fields of a record; what does not fit is refused and nothing is written."""
    memory = _memory(run)
    number = _number(version)
    record = memory.update(number, _settings(settings))
    _answer(context, record, f"{memory.path(number)} updated")


@command.command("mask", epilog="Example: kbs memory mask RUN 2 4")
@RUN
@VERSIONS
@pass_context
def mask(context: Context, *, run: Path, versions: tuple[str, ...]) -> None:
    """Mask records: nothing will be planned from them. v0 and the best version are never masked."""
    _mask(context, run, versions, masked=True)


@command.command("unmask", epilog="Example: kbs memory unmask RUN 2")
@RUN
@VERSIONS
@pass_context
def unmask(context: Context, *, run: Path, versions: tuple[str, ...]) -> None:
    """Take masks off."""
    _mask(context, run, versions, masked=False)


@command.command("list", epilog="Example: kbs memory list RUN --masked")
@RUN
@click.option("--masked", is_flag=True, help="List masked records too.")
@pass_context
def list_(context: Context, *, run: Path, masked: bool) -> None:
    """Versions that have a record."""
    memory = _memory(run)
    rows = [memory.load(number) for number in memory.versions()]
    shown = [row for row in rows if masked or not row.masked]
    if context.json:
        context.print_json(
            {"records": [{"version": row.version, "masked": row.masked} for row in shown]}
        )
        return
    for row in shown:
        click.echo(f"v{row.version}{'  masked' if row.masked else ''}")
    hidden = len(rows) - len(shown)
    if hidden and context.verbosity >= 0:
        click.echo(f"{hidden} masked (--masked lists them)", err=True)


@command.command("latest", epilog="Example: kbs memory latest RUN")
@RUN
@pass_context
def latest(context: Context, *, run: Path) -> None:
    """The newest record that is not masked, as JSON."""
    context.print_json(_memory(run).latest())


@command.command("summary", epilog="Example: kbs memory summary RUN")
@RUN
@pass_context
def summary(context: Context, *, run: Path) -> None:
    """One line for every record that is not masked."""
    rows = _memory(run).visible()
    if context.json:
        context.print_json({"records": [msgspec.to_builtins(row) for row in rows]})
        return
    for row in rows:
        click.echo(_line(row))
    if not rows and context.verbosity >= 0:
        click.echo("no record that is not masked")


def _line(row: MemoryRecord) -> str:
    latency = row.performance.latency_us
    time = "time not measured" if latency is None else f"{latency:.4g} µs"
    tried = ", ".join(
        f"{e.method or e.change} {e.verdict or e.result}".strip()
        for e in row.experience.experiments
    )
    parts = [f"v{row.version}", time, row.correctness.status or "not run",
             row.optimization.action_description or tried or "no change recorded"]  # fmt: skip
    return "  ".join(parts)


def _mask(context: Context, run: Path, versions: tuple[str, ...], *, masked: bool) -> None:
    memory, numbers = _memory(run), [_number(name) for name in versions]
    if masked:
        _require_maskable(memory, numbers)
    changed = memory.set_mask(numbers, masked=masked)
    word = "masked" if masked else "unmasked"
    told = ", ".join(f"v{number}" for number in changed) or "nothing"
    _answer(context, {word: list(changed)}, f"{word}: {told}")


def _require_maskable(memory: Memory, numbers: list[int]) -> None:
    """UsageError for v0 or the best version of a run: its figures and reports rest on them."""
    from kbs_engine.run.files import read_record
    from kbs_engine.run.layout import Layout
    from kbs_engine.run.state import State

    path = Layout(memory.folder.parent).state
    if not path.is_file():
        return  # a memory folder of its own, in which no version is known to be the best
    state = read_record(path, State)
    whose = {state.best_version: "the best version", 0: "what every version is held against"}
    for number in numbers:
        if number in whose:
            raise UsageError(
                f"v{number} is {whose[number]}: its record is never masked",
                where=str(memory.path(number)),
                remedy="mask other versions; where this one is not trusted, begin another run",
            )


def _memory(run: Path) -> Memory:
    """The memory folder of a run, or the folder itself when it is one."""
    from kbs_engine.run.memories import Memory

    if not run.is_dir():
        raise UsageError("no such folder", where=str(run), remedy="name a run folder")
    return Memory(run if run.name == "memory" else run / "memory")


def _number(name: str) -> int:
    digits = name.removeprefix("v")
    if not digits.isdecimal():
        raise UsageError(f"{name!r} is no version", remedy="write 3 or v3")
    return int(digits)


def _settings(texts: tuple[str, ...]) -> dict[str, object]:
    from kbs_engine.run.memories import parse_setting

    return dict(parse_setting(text) for text in texts)


def _answer(context: Context, value: object, text: str) -> None:
    if context.json:
        context.print_json(value)
    elif context.verbosity >= 0:
        click.echo(text)
