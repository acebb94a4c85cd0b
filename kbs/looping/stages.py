"""Single verbs of `kbs loop` on a run: one stage, a submission, changed constraints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from kbs.context import Context
from kbs.looping.home import drive, open_run, stage_ends
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
from kbs_engine.run.memories import Memory
from kbs_engine.units import human_ns

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
