"""Further rounds over the tunables of the fastest branch, while a budget of GPU seconds lasts.

With ``--gpu-seconds`` a version's first race is the first round of a search. Each further round
asks for the next assignments, given every time measured so far, screens, checks and races them
against the fastest branch, and ends where the space is used up, rounds no longer pay, or this
version's share of what is left could not pay for another round and the proof that follows it:
half of it, as a better start is worth more than a late version, and all of it in the last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any, Final

from kbs_engine.loop.asks import MarksRead, ReadMarks, Search, Searched
from kbs_engine.loop.branching import Space, Trial
from kbs_engine.loop.costs import benchmark_costs, proof_costs, race_costs, unit_costs
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.exploring import (
    Explored,
    Tried,
    check_branches,
    compile_sources,
    write_branches,
    write_sources,
)
from kbs_engine.loop.ledger import Ledger, Steps, put
from kbs_engine.loop.racing import race
from kbs_engine.loop.screening import Branch, screen
from kbs_engine.results import Timed, read
from kbs_engine.run.records import SearchFile, SearchRound

MOST_ROUNDS: Final = 16
PATIENCE: Final = 2
"""Rounds in a row that may find nothing faster."""
LOOKS: Final = 2
"""Blocks that a race may take; what a round is reckoned to cost."""


def search(
    ledger: Ledger, number: int, decision: Decision, explored: Explored, before: float
) -> Steps:
    """Search on from the first race of v``number``; returns Explored with all branches.

    Args:
        ledger: the run.
        number: the version that is being made.
        decision: its plan; the seeds come from the base's advice.
        explored: the branches of the first race.
        before: GPU seconds that the run had spent when the version was begun.
    """
    spaces: tuple[Space, ...] = ()
    rounds = [_told(1, explored.branches, explored, ledger.state.gpu_seconds_used - before)]
    ended = "no branch is right"
    if explored.order:
        offered = explored.order[0].offered
        marks: MarksRead = yield ReadMarks(source=offered.source)
        spaces = tuple(
            Space(name=row.name, current=row.current, values=row.values) for row in marks.tunables
        )
        ended = _closed(ledger, explored, spaces)
    if not ended:
        ended = yield from _rounds(ledger, number, decision, explored, spaces, rounds, before)
    ledger.further = sum(row.gpu_seconds for row in rounds[1:])
    yield put(
        f"v{number}/search.json",
        SearchFile(
            version=number,
            tunables=tuple(space.name for space in spaces),
            space=prod(len(space.values) for space in spaces),
            rounds=tuple(rounds),
            ended=ended,
        ),
    )
    return explored


def _rounds(
    ledger: Ledger,
    number: int,
    decision: Decision,
    explored: Explored,
    spaces: tuple[Space, ...],
    rounds: list[SearchRound],
    before: float,
) -> Steps:
    """Rounds after the first, told in ``rounds``; returns why there is no other."""
    idle = 0
    while not (ended := _spent(ledger, explored, len(rounds), idle, before)):
        start = ledger.state.gpu_seconds_used
        fastest = explored.order[0]
        answer: Searched = yield Search(
            spaces=spaces,
            seen=_seen(explored, fastest),
            skip=_measured_before(decision, fastest),
            seeds=decision.base.advice.seeds if decision.base.advice else (),
            wanted=ledger.settings.branches,
            round=len(rounds) + 1,
        )
        if not answer.assignments:
            return "every assignment was tried"
        fresh = [
            Tried(name=f"b{len(explored.branches) + i}", offered=fastest.offered, source=None,
                  tunables=row)
            for i, row in enumerate(answer.assignments)
        ]  # fmt: skip
        yield from _round(ledger, number, decision, explored, fresh)
        idle = idle + 1 if explored.order[0] is fastest else 0
        spent = ledger.state.gpu_seconds_used - start
        rounds.append(_told(len(rounds) + 1, fresh, explored, spent))
        yield ledger.progress("branch", number, f"round {len(rounds)}: {explored.order[0].name}")
    return ended


def _closed(ledger: Ledger, explored: Explored, spaces: Sequence[Space]) -> str:
    """Why there is no search beyond the first race; empty where there is one."""
    if ledger.settings.gpu_seconds is None:
        return "no budget of GPU seconds was given"
    if ledger.settings.one_change and not explored.order[0].offered.tuning:
        return "one change at a time, and this one is not the tunables"
    if not spaces:
        return "the source has no tunables"
    if not unit_costs(ledger):
        return "the device does not tell GPU time"
    return ""


def _spent(ledger: Ledger, explored: Explored, rounds: int, idle: int, before: float) -> str:
    """Why no further round is made; empty while one may be."""
    if rounds >= MOST_ROUNDS:
        return f"{rounds} rounds were made"
    if idle >= PATIENCE:
        return f"{idle} rounds in a row found nothing faster"
    allowed = ledger.settings.gpu_seconds or 0.0
    share = allowed - before - benchmark_costs(ledger)
    share /= 1 if ledger.attempts >= ledger.allowed else 2
    used = ledger.state.gpu_seconds_used - before
    needs = race_costs(ledger, ledger.settings.branches + 1, LOOKS)
    held = max(len(row.offered.methods) for row in explored.order)
    needs += proof_costs(ledger, held)
    if used + needs > share:
        return (
            f"{used:.1f} s of GPU time spent, about {needs:.1f} s for a round and the proof, "
            f"{share:.1f} s for this version"
        )
    return ""


def _seen(explored: Explored, fastest: Tried) -> tuple[Trial, ...]:
    """What was tried of the same source; the fastest's own time comes first among equals."""
    return tuple(
        Trial(assignment=row.tunables, time_ns=row.median_ns if row.standing else None)
        for row in explored.branches
        if row.offered is fastest.offered
    )


def _measured_before(decision: Decision, fastest: Tried) -> tuple[dict[str, Any], ...]:
    """What earlier versions measured of this very source."""
    same = fastest.offered.source.sha256 == decision.base.source.sha256
    return decision.base.tried if same else ()


def _round(
    ledger: Ledger,
    number: int,
    decision: Decision,
    explored: Explored,
    fresh: list[Tried],
) -> Steps:
    """Screen, check and race ``fresh`` against the fastest; ``explored`` holds them afterwards."""
    yield from write_sources(ledger, decision, fresh)
    yield from compile_sources(ledger, number, fresh)
    _screen(ledger, decision, explored, fresh)
    explored.branches += fresh
    yield from check_branches(ledger, number, fresh)
    fastest = explored.order[0]
    racers = [fastest, *(row for row in fresh if row.standing)]
    if len(racers) > 1:
        yield from race(ledger, number, racers)
    yield from write_branches(ledger, number, [fastest, *fresh])
    standing = [row for row in racers if row.standing]
    standing.sort(key=lambda row: (row.ratio or math.inf, row is not fastest, row.name))
    rest = [row for row in explored.order if row is not fastest]
    explored.order = [*standing, *rest]


def _screen(ledger: Ledger, decision: Decision, explored: Explored, fresh: Sequence[Tried]) -> None:
    """Screen fresh branches beside those that were timed, which stay whatever it says."""
    timed = [row for row in explored.branches if row.standing]
    mine = [row for row in fresh if row.standing]
    rows = screen(
        [Branch(name=row.name, compiled=row.compiled) for row in (*timed, *mine)],
        chip=ledger.chip,
        incumbent=decision.base.compiled,
    )
    for branch, row in zip(mine, rows[len(timed) :], strict=True):
        branch.screened, branch.fault = row, row.reason


def _told(number: int, branches: Sequence[Tried], explored: Explored, spent: float) -> SearchRound:
    """One round as search.json tells it."""
    dropped = [row for row in branches if row.fault and row.check is None]
    wrong = [row for row in branches if row.fault and row.check is not None]
    return SearchRound(
        number=number,
        proposed=len(branches),
        dropped=len(dropped),
        wrong=len(wrong),
        raced=sum(bool(row.blocks) and not row.fault for row in branches),
        samples=sum(_samples(row) for row in branches),
        gpu_seconds=spent,
        best_ns=explored.order[0].median_ns if explored.order else None,
    )


def _samples(branch: Tried) -> int:
    """Timed calls of a branch so far."""
    if branch.source is None:
        return 0
    return sum(
        len(arm.samples_ns)
        for block in branch.blocks
        for arm in read(block, Timed).arms
        if arm.sha256 == branch.source.sha256
    )
