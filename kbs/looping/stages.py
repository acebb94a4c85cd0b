"""Single verbs of `kbs loop` on a run: one stage, a submission, changed constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.context import Context
from kbs.looping.beginning import settings_of
from kbs.looping.home import drive, open_run, stage_ends
from kbs.looping.programs import require_program
from kbs.looping.waiting import pending_propose
from kbs.measuring.subject import read_text
from kbs_backends.languages.user_code import require_python
from kbs_engine.decoding import decode_json
from kbs_engine.errors import UsageError
from kbs_engine.loop.actions import Stage
from kbs_engine.proposals import Candidate
from kbs_engine.run import RunFolder
from kbs_engine.run.files import sha256_of
from kbs_engine.run.judged import RequestFile
from kbs_engine.run.memories import Memory, parse_setting
from kbs_engine.run.records import Settings
from kbs_engine.units import human_ns

FOUND = frozenset({
    "language", "kernel_suffix", "family", "tolerance_from", "device_kind", "gpu", "gpu_uuid",
    "chip", "arch", "mode", "extra",
})  # fmt: skip
"""Settings that nobody chose: facts of the kernel and the machine."""
PROGRAMS = ("proposer_command", "external_benchmark")
"""Settings that name a program."""
OF_THE_NEWEST = ("roofline", "plan")
"""Stages of the newest version; the others belong to the one that is made from it."""


def run_stage(
    context: Context, root: Path, *, stage: Stage, shows: str, device: str, record: Path | None
) -> None:
    """Go on to the end of a stage where it is not done yet, and show what it wrote.

    Raises:
        UsageError: The run has ended before it ever came to this stage.
    """
    with open_run(context, root) as run:
        state = run.state()
        newest = max((row.version for row in state.versions), default=0)
        target = newest if stage in OF_THE_NEWEST else newest + 1
        place = run.version(target).root / shows
        if not place.exists() and not state.ended:
            until = stage_ends(stage, after=target - 1)
            went = drive(context, run, device=device, record=record, until=until)
            if went.waiting and not context.json:
                click.echo(went.waiting, err=True)
        while not place.exists() and target > 0:
            target -= 1
            place = run.version(target).root / shows
    if not place.exists():
        raise UsageError(f"the run has no {shows} yet", where=str(root), remedy="kbs loop next")
    _show(context, place)


def _show(context: Context, place: Path) -> None:
    if place.is_dir():
        rows = {
            part.name: decode_json((part / "bench.json").read_bytes())
            for part in sorted(place.iterdir())
            if (part / "bench.json").is_file()
        }
        if context.json:
            context.print_json({"path": str(place), "branches": rows})
            return
        for name, bench in rows.items():
            own = next(
                (arm for arm in bench["arms"] if arm["sha256"] == bench["source_sha256"]), None
            )
            time = (
                human_ns(own["median_ns"]) if own and own["median_ns"] else bench["reason"] or "-"
            )
            click.echo(f"{name:<4} {time:>14}  {bench['tunables']}")
        return
    if context.json:
        context.print_json(decode_json(place.read_bytes()))
        return
    click.echo(f"{place}")
    click.echo(place.read_text(encoding="utf-8"), nl=False)


def submit_files(
    context: Context, root: Path, files: Sequence[Path], methods: Sequence[str], note: str
) -> tuple[int, int]:
    """Put candidates for the pending request into the journal.

    Gives the version they are for, and how many of before they take the place of.

    Raises:
        UsageError: The run waits for no kernel, or a method is not in the plan.
        InputError: A file that cannot be read, or is no kernel of the run's language.
    """
    with open_run(context, root) as run:
        ask = pending_propose(run)
        planned = {row.method for row in ask.file.plan.methods}
        extra = [method for method in methods if method not in planned]
        if extra:
            raise UsageError(
                f"the plan does not hold {', '.join(extra)}",
                where=str(run.version(ask.file.version).request),
                remedy=f"name methods of the plan: {', '.join(sorted(planned)) or 'none'}",
            )
        candidates = [
            Candidate(
                text=_candidate(run, path, ask.file),
                name=path.name,
                methods=tuple(methods),
                note=note,
            )
            for path in files
        ]
        before = [
            len(event.data["candidates"])
            for event in run.journal.of_kind("submitted")
            if event.data["ask_key"] == ask.key
        ]
        run.journal.append("submitted", ask_key=ask.key, candidates=candidates)
    return ask.file.next_version, before[-1] if before else 0


def _candidate(run: RunFolder, path: Path, request: RequestFile) -> str:
    """The text of a submitted kernel; an error for one that could never become a version."""
    base = run.kernel_path(request.base_version)
    if path.suffix and path.suffix.casefold() != base.suffix.casefold():
        raise UsageError(
            f"is a {path.suffix} file; the kernels of this run are {base.suffix}",
            where=str(path),
            remedy=f"submit a {base.suffix} file, or begin another run in another language",
        )
    text = read_text(path)
    if not text.strip():
        raise UsageError("holds no kernel", where=str(path), remedy="submit a file with source")
    state = run.state()
    earlier = state.version_of(sha256_of(text), epoch=state.epoch)
    if earlier is not None:
        raise UsageError(
            f"is v{earlier}'s kernel, byte for byte",
            where=str(path),
            remedy=f"change a copy of {base} as request.json plans it, and submit that",
        )
    if base.suffix == ".py":
        require_python(text, path)
    return text


def mask_half(context: Context, root: Path) -> tuple[int, ...]:
    """Mask about half of the records between v0 and the best; the versions masked."""
    with open_run(context, root) as run:
        memory = Memory(run.paths.memory)
        return memory.set_mask(memory.middle_half(run.state().best_version), masked=True)


def read_changes(context: Context, root: Path, texts: Sequence[str]) -> dict[str, Any]:
    """``field=value`` texts as changes of the settings; UsageError for what does not fit."""
    with open_run(context, root, writing=False) as run:
        plain = msgspec.to_builtins(run.state().settings)
    changes: dict[str, Any] = {}
    for text in texts:
        path, value = parse_setting(text)
        name, _, inner = path.partition(".")
        if name not in Settings.__struct_fields__:
            raise UsageError(
                f"{name} is no setting", where="--set",
                remedy="settings: " + ", ".join(Settings.__struct_fields__),
            )  # fmt: skip
        if name in FOUND:
            raise UsageError(
                f"{name} was found in the kernel or on the machine, it is no constraint",
                where="--set",
                remedy="begin another run for another kernel, language or machine",
            )
        if inner:
            held = dict(changes.get(name, plain[name]) or {})
            held[inner] = value
            value = held
        changes[name] = value
    settings_of({**plain, **changes})
    for name in PROGRAMS:
        if changes.get(name):
            require_program(changes[name], f"--set {name}")
    _check_dims(plain["dims"], changes.get("dims", {}))
    return changes


def _check_dims(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Dims keep their names and kinds, and sizes stay sizes: an order cannot be taken back."""
    for name, value in after.items():
        old = before.get(name)
        same_kind = type(value) is type(old) or (isinstance(old, float) and type(value) is int)
        if old is None or not same_kind:
            known = ", ".join(f"{key}={held}" for key, held in before.items())
            raise UsageError(
                f"dims.{name} cannot become {value!r}", where="--set", remedy=f"dims: {known}"
            )
        if type(value) is int and value < 1 <= old:
            raise UsageError(
                f"dims.{name} is a size, got {value}", where="--set", remedy="give at least 1"
            )
