"""From a plan to a champion: candidates, their variants, static screen, check, race.

A try whose branches are all wrong is fed back to the proposer, at most ``retries`` times.
Every losing branch is kept on the frontier, whatever made it lose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from kbs_engine.jobs import Compile, Result, SourceRef
from kbs_engine.loop.actions import PutBlob
from kbs_engine.loop.admitting import no_version
from kbs_engine.loop.asks import MarksRead, Propose, Proposed, ReadMarks, Write, Written
from kbs_engine.loop.branching import Space, assignments
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.ledger import Ledger, Steps, put
from kbs_engine.loop.measuring import check_job, run_jobs
from kbs_engine.loop.notes import request_note
from kbs_engine.loop.parts import Offered, Variant
from kbs_engine.loop.racing import race
from kbs_engine.loop.screening import Branch, Screened, screen
from kbs_engine.results import Checked, Compiled, read
from kbs_engine.run.benches import build_bench, claims_judged
from kbs_engine.run.records import Bench, Feedback, Static

REFILLS = 3
"""How often branches that the screen dropped are replaced by the next assignments."""


class Tried(msgspec.Struct, kw_only=True):
    """One branch and what came of it."""

    name: str
    offered: Offered
    source: SourceRef | None
    tunables: dict[str, Any]
    fault: str = ""
    """Why it is out: not writable, does not fit, wrong, refused while timed; empty while in."""
    reason: str = ""
    """The refusal code, where there is one."""
    compiled: Compiled | None = None
    compile_result: Result | None = None
    screened: Screened | None = None
    check: Result | None = None
    checked: Checked | None = None
    blocks: list[Result] = msgspec.field(default_factory=list)
    median_ns: float | None = None
    ratio: float | None = None
    """Time over that of the champion of the race; None where it did not race to the end."""

    @property
    def standing(self) -> bool:
        """Whether it is still in."""
        return self.source is not None and not self.fault


class Explored(msgspec.Struct, kw_only=True):
    """All branches of a version and those that are right, fastest first."""

    branches: list[Tried]
    order: list[Tried]
    tries: int
    feedback: tuple[Feedback, ...]
    withdrawn: bool = False
    """Whether orders came while the proposer was waited for."""

    @property
    def claimed(self) -> frozenset[str]:
        """Methods that a branch claimed to hold; what nobody wrote was not tried."""
        return frozenset(m for branch in self.branches for m in branch.offered.methods)


def explore(ledger: Ledger, number: int, decision: Decision) -> Steps:
    """Try to make v``number``; returns Explored, with an empty order when every try failed."""
    feedback: tuple[Feedback, ...] = ()
    every: list[Tried] = []
    for attempt in range(1, ledger.settings.retries + 2):
        proposed: Proposed = yield Propose(
            file=request_note(
                ledger, number - 1, decision, feedback=feedback
            ),
            base=decision.base.source,
            attempt=attempt,
        )  # fmt: skip
        if proposed.withdrawn:
            break
        candidates = (*proposed.candidates, *_without_harm(decision))
        if not candidates:
            told = proposed.failure or "the proposer has nothing"
            yield ledger.progress("propose", number, f"try {attempt}: {told}")
            if proposed.failure or not feedback:
                row = Feedback(attempt=attempt, reason="no candidate", detail=told)
                feedback = (*feedback, row)
            if not proposed.failure:
                break
            continue
        tried = yield from _spread(ledger, number, decision, candidates, len(every))
        every += tried
        yield from check_branches(ledger, number, tried)
        right = [branch for branch in tried if branch.standing]
        if right:
            yield from race(ledger, number, right)
            right = [branch for branch in right if branch.standing]
        yield from write_branches(ledger, number, tried)
        if right:
            right.sort(key=lambda branch: (branch.ratio or math.inf, branch.name))
            yield ledger.progress("branch", number, f"{right[0].name} is fastest", done=True)
            return Explored(branches=every, order=right, tries=attempt, feedback=feedback)
        feedback = (*feedback, *(_feedback(attempt, branch) for branch in tried))
        yield ledger.progress("branch", number, f"try {attempt}: no branch is right")
    told = "other orders came first" if proposed.withdrawn else "no branch is right"
    yield ledger.progress("branch", number, told, done=True)
    tries = max((row.attempt for row in feedback), default=0)
    return Explored(
        branches=every, order=[], tries=tries, feedback=feedback, withdrawn=proposed.withdrawn
    )


def _without_harm(decision: Decision) -> tuple[Offered, ...]:
    """The base without what its ablation found harmful races beside what is proposed, once."""
    found, decision.base.faster = decision.base.faster, None
    return () if found is None else (found,)


def _feedback(attempt: int, branch: Tried) -> Feedback:
    return Feedback(
        attempt=attempt,
        branch=branch.name,
        reason=branch.reason or "dropped",
        detail=branch.fault,
    )


def _spread(
    ledger: Ledger, number: int, decision: Decision, candidates: Sequence[Offered], first: int
) -> Steps:
    """Branches over the candidates and their tunables, refilled while the screen drops some."""
    wanted = max(ledger.settings.branches, len(candidates))
    walks = []
    for offered in candidates:
        marks: MarksRead = yield ReadMarks(source=offered.source)
        walks.append((offered, _walk(ledger, decision, offered, marks)))
    tried: list[Tried] = []
    for _ in range(REFILLS):
        missing = wanted - sum(branch.standing for branch in tried)
        fresh = _draw(walks, missing, first + len(tried))
        if missing <= 0 or not fresh:
            break
        yield from write_sources(ledger, decision, fresh)
        yield from compile_sources(ledger, number, fresh)
        tried += fresh
        _screen(ledger, decision, tried)
    return tried


def _walk(ledger: Ledger, decision: Decision, offered: Offered, marks: MarksRead) -> Any:
    """The assignments of one candidate; its own alone in one-change mode without tuning."""
    base = decision.base
    spaces = [
        Space(name=row.name, current=row.current, values=row.values) for row in marks.tunables
    ]
    if ledger.settings.one_change and not offered.tuning:
        return iter([{space.name: space.current for space in spaces}])
    same = offered.source.sha256 == base.source.sha256
    seeds = base.advice.seeds if base.advice else ()
    return assignments(spaces, seeds=seeds, tried=base.tried if same else ())


def _draw(walks: Sequence[tuple[Offered, Any]], wanted: int, first: int) -> list[Tried]:
    """The next branches, the candidates in turn."""
    fresh: list[Tried] = []
    left = list(walks)
    while left and len(fresh) < wanted:
        for pair in tuple(left):
            row = next(pair[1], None)
            if row is None:
                left.remove(pair)
            elif len(fresh) < wanted:
                name = f"b{first + len(fresh)}"
                fresh.append(Tried(name=name, offered=pair[0], source=None, tunables=row))
    return fresh


def write_sources(ledger: Ledger, decision: Decision, fresh: Sequence[Tried]) -> Steps:
    """Write the variants of each candidate; a branch has its source then, or its fault.

    What the gate would refuse as a version is out before it costs anything.
    """
    for offered in {id(branch.offered): branch.offered for branch in fresh}.values():
        mine = [branch for branch in fresh if branch.offered is offered]
        answer: Written = yield Write(
            source=offered.source,
            variants=tuple(Variant(tunables=branch.tunables) for branch in mine),
        )
        for branch, source, fault in zip(mine, answer.sources, answer.faults, strict=True):
            branch.source, branch.fault = source, fault
            if source is not None and not fault:
                branch.fault = no_version(ledger, decision.base, source)


def compile_sources(ledger: Ledger, number: int, fresh: Sequence[Tried]) -> Steps:
    """Compile what could be written for the run's target; nothing where there is none."""
    if not ledger.arch:
        return
    mine = [branch for branch in fresh if branch.standing]
    jobs = [
        Compile(source=branch.source, arch=ledger.arch, task=ledger.task)
        for branch in mine
        if branch.source is not None
    ]
    results = yield from run_jobs(ledger, jobs, "compile branches", number)
    for branch, result in zip(mine, results, strict=True):
        branch.compile_result, branch.compiled = result, read(result, Compiled)


def _screen(ledger: Ledger, decision: Decision, tried: Sequence[Tried]) -> None:
    """Screen all branches together; one that is out stays out."""
    mine = [branch for branch in tried if branch.standing]
    rows = screen(
        [Branch(name=branch.name, compiled=branch.compiled) for branch in mine],
        chip=ledger.chip,
        incumbent=decision.base.compiled,
    )
    for branch, row in zip(mine, rows, strict=True):
        branch.screened = row
        branch.fault = row.reason


def check_branches(ledger: Ledger, number: int, tried: Sequence[Tried]) -> Steps:
    """Check what is still in against the reference; what is wrong is out, with the reason."""
    mine = [branch for branch in tried if branch.standing]
    jobs = [check_job(ledger, branch.source) for branch in mine if branch.source is not None]
    results = yield from run_jobs(ledger, jobs, "check branches", number)
    for branch, result in zip(mine, results, strict=True):
        branch.check, branch.checked = result, read(result, Checked)
        if not branch.checked.passed:
            branch.reason = branch.checked.reason or ""
            branch.fault = f"{branch.reason}: {branch.checked.detail}".rstrip(": ")


def write_branches(ledger: Ledger, number: int, tried: Sequence[Tried]) -> Steps:
    """Each branch's kernel, bench.json, static.json and stderr.txt.

    A branch that could not be written has the text as it was offered: no less is known of it
    than of one that does not compile.
    """
    for branch in tried:
        folder = f"v{number}/branches/{branch.name}"
        text = branch.source or branch.offered.source
        yield PutBlob(path=f"{folder}/{ledger.settings.kernel_file}", sha256=text.sha256)
        yield put(f"{folder}/bench.json", bench_of_branch(ledger, number, branch))
        yield put(f"{folder}/static.json", static_of(ledger, branch))
        yield put(f"{folder}/stderr.txt", _stderr(branch))


def bench_of_branch(ledger: Ledger, number: int, branch: Tried) -> Bench:
    """bench.json of a branch."""
    source = branch.source or branch.offered.source
    bench = build_bench(
        version=number,
        name=branch.name,
        source_sha256=source.sha256,
        checks=[branch.check] if branch.check else [],
        blocks=branch.blocks,
        settings=ledger.settings.timing,
        noise=ledger.settings.noise,
        tunables=branch.tunables,
        switches=source.switches,
    )
    zero = ledger.begin.baseline.sha256
    return claims_judged(bench, ledger.settings.noise, zero_sha256=zero)


def static_of(ledger: Ledger, branch: Tried) -> Static:
    """static.json of a branch: what the compiler says, and why it was dropped."""
    compiled, row = branch.compiled, branch.screened
    return Static(
        name=branch.name,
        source_sha256=(branch.source or branch.offered.source).sha256,
        arch=ledger.arch,
        compiled=bool(compiled and compiled.ok),
        compiler=compiled.compiler if compiled else "",
        messages=compiled.messages if compiled else (),
        resources=compiled.resources if compiled else (),
        occupancy=row.occupancy_pct / 100 if row and row.occupancy_pct is not None else None,
        dropped=row.reason if row else branch.fault,
    )


def _stderr(branch: Tried) -> str:
    if branch.source is None:
        return f"could not be written: {branch.fault}\n"
    parts = [result.stderr for result in (branch.compile_result, branch.check) if result]
    return "\n".join(part for part in (*parts, branch.fault) if part) + "\n"
