"""Versions pass in order: current_iteration.txt names the one that may."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.errors import InputError
from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.folder import RunFolder
from kbs_engine.shell import shell


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a version that is not the current one."""
    if context.broken is None:
        wrong = tuple(misnamed(context.run))
        if wrong:
            yield from wrong
            return
    current = context.run.current()
    where = context.run.paths.current
    if current is None and context.number != 0:
        yield context.refuse(
            "current_version",
            where,
            f"the first gate of a run is v0's, not v{context.number}'s",
            f"pass `kbs gate {shell(context.run.root / 'v0')}` first",
        )
    elif current is not None and current != context.number:
        yield context.refuse(
            "current_version",
            where,
            f"names v{current}, not v{context.number}",
            f"go on with `kbs gate {shell(context.run.root / f'v{current}')}`",
        )


def misnamed(run: RunFolder) -> Iterator[Refusal]:
    """current_iteration.txt names no version before a passed one, and none that is not open."""
    opened = [event.data["version"] for event in run.journal.of_kind("version_opened")]
    newest = opened[-1] if opened else 0
    name = run.relative(run.paths.current)
    restore = f"write v{newest} into it: the gate opened that version last"
    passed = max((event.data["version"] for event in run.journal.of_kind("gate_passed")), default=0)
    try:
        current = run.current()
    except InputError as problem:
        yield _order(name, problem.message, restore)
        return
    if current is None and opened:
        yield _order(name, f"is gone, though v{newest} was opened", restore)
    elif current is not None and not passed <= current <= max(opened, default=0):
        yield _order(name, f"names v{current}; the gate opened v{newest}", restore)


def _order(where: str, message: str, remedy: str) -> Refusal:
    return Refusal(rule="current_version", where=where, message=message, remedy=remedy)


RULE = Rule(
    id="current_version",
    title="Order of versions",
    refuses="A version other than the one in current_iteration.txt; the first gate of a run is "
    "v0's.",
    check=check,
)
