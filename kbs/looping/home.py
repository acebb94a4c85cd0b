"""A run of the command line: opened, wired to this home, driven, and told about."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from kbs.context import Context
from kbs.looping.before_v0 import another, stands
from kbs.looping.driver import Until
from kbs.looping.mending import mend
from kbs.looping.progress import choose_show
from kbs.looping.refusing import gate_refuses
from kbs.looping.running import Wiring, replayed, run_loop
from kbs.looping.waiting import fresh_orders, waits_for
from kbs.looping.world import WaitingForAgentError
from kbs_engine.ablation import left_open
from kbs_engine.errors import InputError, RefusedError
from kbs_engine.gate import Refusal, standing
from kbs_engine.loop.actions import Progress, Stage
from kbs_engine.loop.parts import Order
from kbs_engine.reports.epochs import epoch_line, holds
from kbs_engine.run import RunFolder
from kbs_engine.run.records import MethodVerdict, State, VersionEntry
from kbs_engine.shell import shell
from kbs_engine.units import human_ns


class Went(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands after a command drove it."""

    state: State
    waiting: str = ""
    """What the run waits for: a submission, or orders at its end."""
    orders: tuple[Order, ...] = ()
    """What was ordered and is not followed yet."""
    damage: tuple[Refusal, ...] = ()
    """What is broken, gone, changed or untrue of the run."""
    unchecked: tuple[str, ...] = ()
    """What could not be checked."""
    refused: tuple[Refusal, ...] = ()
    """Why the gate at which the run stands does not let its version through."""
    foreign: bool = False
    """Whether only another version of kbs can go on with the run."""


def drive(
    context: Context,
    run: RunFolder,
    *,
    device: str = "",
    record: Path | None = None,
    until: Until | None = None,
) -> Went:
    """Go on with a run that is open for writing.

    Raises:
        KbsError: A gate that refuses, a job that could not be carried out.
    """
    settings = run.state().settings
    known = settings.extra.get("knowledge", True) and not replayed(device or settings.device)
    store = context.store() if known else None
    wiring = Wiring(
        home=context.home, roots=context.roots, store=store, device=device, record=record
    )
    waiting = ""
    try:
        with choose_show(quiet=context.json or context.verbosity < 0) as show:
            run_loop(run, wiring, show=show, until=until)
    except WaitingForAgentError as wait:
        waiting = wait.message
    finally:
        if store is not None:
            store.close()
    return Went(state=run.state(), waiting=waiting, orders=fresh_orders(run))


def _make_whole(context: Context, run: RunFolder) -> None:
    """Write again what the loop can of its own files, told on stderr.

    Raises:
        RefusedError: Something else of the run is gone or changed.
    """
    found = standing(run)
    if found.damage:
        told = "\n".join(map(str, found.damage))
        raise RefusedError(
            f"the run does not stand as it was measured and passed its gates:\n{told}",
            where=str(run.root),
            remedy="mend what it names; nothing is built on what was changed",
        )
    for line in mend(run, found):
        if context.verbosity >= 0:
            click.echo(line, err=True)
    if not run.paths.state.is_file():
        raise InputError(
            "state.json of this run is gone, and this kbs cannot tell it from the journal",
            where=str(run.root),
            remedy="restore it from a copy, or use the kbs that began the run",
        )


def stage_ends(stage: Stage, *, after: int = -1) -> Until:
    """Stop where ``stage`` ends for a version later than ``after``."""

    def reached(progress: Progress) -> bool:
        return progress.stage == stage and progress.version > after

    return reached


def status_shape(root: Path, went: Went) -> dict[str, Any]:
    """Where a run stands, for machines."""
    state = went.state
    return {
        "run": str(root),
        "improved": state.improved,
        "ended": state.ended,
        "because": state.loop.get("because", ""),
        "waiting": went.waiting,
        "current_version": max((row.version for row in state.versions), default=0),
        "best_version": state.best_version,
        "best_ns": state.best_ns,
        "device": state.settings.device_kind,
        "mode": state.settings.mode,
        "gpu_seconds_used": state.gpu_seconds_used,
        "versions": [msgspec.to_builtins(row) for row in state.versions],
        "verdicts": [msgspec.to_builtins(row) for row in state.verdicts],
        "damage": [msgspec.to_builtins(row) for row in went.damage],
        "refused": [msgspec.to_builtins(row) for row in went.refused],
        "unchecked": list(went.unchecked),
        "orders": [msgspec.to_builtins(row) for row in went.orders],
    }


def status_lines(root: Path, went: Went) -> Sequence[str]:
    """The same for people."""
    state = went.state
    lines = [f"run {root}"]
    if state.settings.device_kind == "host":
        lines.append("measured on a host (CPU): nothing here is a claim about a GPU")
    epochs, before = {epoch.number: epoch for epoch in state.epochs}, 0
    for row in state.versions:
        if row.epoch != before and row.epoch in epochs:
            told = epoch_line(epochs[row.epoch])
            lines.append(f"  {told}; nothing below compares with what is above")
        before = row.epoch
        time = human_ns(row.median_ns) if row.median_ns else "-"
        gain = f"{row.speedup_v0:.2f}×" if row.speedup_v0 and _is_other(state, row) else ""
        mark = " best" if row.version == state.best_version else ""
        methods = holds(state, row).removeprefix("-")
        lines.append(f"  v{row.version:<3} {row.status:<9} {time:>12} {gain:>8}  {methods}{mark}")
    lines += [
        f"  v{row.version:<3} {row.method}: {row.verdict}{_returned(state, row)}"
        for row in state.verdicts
    ]
    lines += [*_measuring(state), *_ended(state)]
    lines += [f"ordered and not followed yet: {_ordered(row)}" for row in went.orders]
    can_go_on = not (went.waiting or went.damage or went.refused or went.foreign)
    if (not state.ended or went.orders) and can_go_on:
        begun = "" if state.versions else "nothing is measured yet; "
        lines.append(f"{begun}`kbs loop next {shell(root)}` goes on")
    if went.waiting:
        lines += went.waiting.splitlines()
    if went.damage:
        lines.append("it does not stand as it was measured and passed its gates:")
        lines += [line for row in went.damage for line in str(row).splitlines()]
    lines += refused_lines(went.refused)
    lines += went.unchecked
    return lines


def refused_lines(refused: Sequence[Refusal]) -> list[str]:
    """What a gate says of the version in work, where it does not let it through."""
    if not refused:
        return []
    told = [line for row in refused for line in str(row).splitlines()]
    return ["the gate does not let the version in work through:", *told]


def _is_other(state: State, row: VersionEntry) -> bool:
    """Whether a version is another kernel than v0, so that a factor over v0 says something."""
    return bool(row.version) and row.sha256 != state.baseline_sha256


def _unattributed(state: State) -> list[str]:
    """That a gain is no method's, where the best version is faster and no method helps in it."""
    best = state.best_version
    rows = [row.verdict for row in state.verdicts if row.version == best]
    if not state.improved or not rows or {"effective", "inseparable"} & set(rows):
        return []
    return [f"v{best} is faster as a whole: its gain is attributed to none of its methods"]


def _measuring(state: State) -> list[str]:
    """What the figures rest on, and what they cost."""
    lines = []
    if any(row.speedup_v0 and _is_other(state, row) for row in state.versions):
        lines.append(
            "each × is against v0 as it was timed beside that version, not against the time above"
        )
    lines += _unattributed(state)
    if state.gpu_seconds_used:
        allowed = state.settings.gpu_seconds
        budget = f" of {allowed:g} s" if allowed is not None else ""
        device = "CPU" if state.settings.device_kind == "host" else "GPU"
        lines.append(f"{device} time spent: {state.gpu_seconds_used:.1f} s{budget}")
    if state.settings.process_pairs == 1 and len(state.versions) > 1:
        lines.append(
            "timed in one process pair: the intervals hold nothing of what varies between processes"
        )
    return lines


def _ended(state: State) -> list[str]:
    """How a run ended, and where v0 never stood, what to do then."""
    if not state.ended:
        return []
    found = "a faster version" if state.improved else "no better version"
    because = state.loop.get("because", "")
    lines = [f"ended: {state.ended.replace('_', ' ')} ({because}); {found} was found"]
    if state.ended == "stopped" and not stands(state):
        lines.append(f"mend the kernel or the reference, and begin another run: {another(state)}")
    return lines


def _ordered(order: Order) -> str:
    """An order in words."""
    more = f" of {order.iterations}" if order.iterations else ""
    changes = f" {', '.join(order.changes)}" if order.changes else ""
    return f"{order.kind}{more}{changes}" + (f" ({order.reason})" if order.reason else "")


def _returned(state: State, row: MethodVerdict) -> str:
    """What a method returns, and whether that tells anything."""
    if row.gain is None:
        return ""
    told = f", returns {row.gain:.1%} of the time"
    entry = state.version(row.version)
    noises = {epoch.number: epoch.settings.noise for epoch in state.epochs}
    noise = noises.get(entry.epoch if entry else state.epoch, state.settings.noise)
    if left_open(row.verdict, row.gain_high, noise):
        told += f" [{row.gain_low:.1%}, {row.gain_high:.1%}]: not told, more is not ruled out"
    return told


def tell(context: Context, root: Path, went: Went) -> None:
    """Print where the run stands."""
    if context.json:
        context.print_json(status_shape(root, went))
        return
    if context.verbosity >= 0:
        console = context.console()
        for line in status_lines(root, went):
            console.print(line, markup=False)


def show_status(context: Context, root: Path) -> bool:
    """Print where a run stands, nothing asked or written; whether it stands as it passed."""
    with open_run(context, root, writing=False) as run:
        found = standing(run)
        amiss = (*found.damage, *found.untrue)
        went = Went(
            state=run.state(),
            waiting="" if amiss else waits_for(run, found.retold),
            orders=fresh_orders(run),
            damage=amiss,
            refused=() if amiss else gate_refuses(context, run, found.retold),
            unchecked=found.unchecked,
            foreign=found.foreign,
        )
        tell(context, root, went)
    return not amiss


def open_run(context: Context, root: Path, *, writing: bool = True) -> RunFolder:
    """The run folder of a command; KbsError says what is wrong with it.

    What is open for writing stands as it was measured and passed its gates, and says what its
    journal gives.
    """
    run = RunFolder.open(root.resolve(), home=context.home, writing=writing, mending=writing)
    if writing:
        with contextlib.ExitStack() as undo:
            undo.callback(run.close)  # a run that is refused must not stay locked
            _make_whole(context, run)
            undo.pop_all()
    return run
