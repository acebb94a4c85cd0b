"""Versions pass in order: current_iteration.txt names the one that may."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.shell import shell


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a version that is not the current one."""
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


RULE = Rule(
    id="current_version",
    title="Order of versions",
    refuses="A version other than the one in current_iteration.txt; the first gate of a run is "
    "v0's.",
    check=check,
)
