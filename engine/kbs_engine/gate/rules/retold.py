"""What the loop wrote of itself is what its journal gives when it is told again."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.gate.told_again import (
    SHOWN,
    Retelling,
    memory_leaves,
    memory_versions,
    state_leaves,
)
from kbs_engine.run.folder import RunFolder
from kbs_engine.shell import shell


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse every leaf that differs; nothing is said of what another version of kbs wrote."""
    if context.broken is None and not context.inspectors.looping:
        yield from differing(context.run, context.retelling)


def differing(run: RunFolder, retelling: Retelling) -> Iterator[Refusal]:
    """A refusal for every leaf of state.json and the memory records that the journal denies."""
    retold = retelling.retold
    if retold is None or retelling.unchecked:
        return
    yield from _told(run, "state.json", state_leaves(run, retold))
    for number in memory_versions(retold):
        name = run.relative(run.paths.memory_record(number))
        yield from _told(run, name, memory_leaves(run, retold, number))


def _told(run: RunFolder, name: str, leaves: tuple[str, ...]) -> Iterator[Refusal]:
    remedy = f"`kbs loop resume {shell(run.root)}` writes it again from the journal"
    more = len(leaves) - SHOWN
    rest = (f"and {more} more leaves differ",) if more > 0 else ()
    for told in (*leaves[:SHOWN], *rest):
        yield Refusal(rule="retold", where=name, message=told, remedy=remedy)


RULE = Rule(
    id="retold",
    title="State and memory as the journal tells them",
    refuses="A leaf of state.json, or of a memory record but for what people, the gate and the "
    "commit write into it, that the loop does not write when its journal is told again.",
    check=check,
)
