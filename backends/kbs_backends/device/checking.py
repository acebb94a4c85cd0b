"""The Check job: rounds with secret seeds over several distributions, every element compared."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

from kbs_backends.device.arena import same_bits
from kbs_backends.device.calls import ArmState, Caller
from kbs_backends.device.context import Bench, seconds_since
from kbs_backends.device.interpreted import MISCOMPUTED, doubt
from kbs_backends.device.refusal import Refusal
from kbs_backends.device.task import LoadedTask
from kbs_backends.device.whose_work import note, whose_work
from kbs_engine.errors import InputError
from kbs_engine.jobs import Check
from kbs_engine.results import Checked, OwnWork, Round

MOST_UNUSABLE = 3
"""Rounds in a row that may be unusable before the task is refused."""


def check(bench: Bench, job: Check, artifacts: Mapping[str, str]) -> Checked:
    """Run the rounds; a candidate at fault is a value with its reason."""
    task = bench.load(job.task)
    start = time.monotonic()
    rounds: list[Round] = []
    reason, detail = None, ""
    notes: tuple[str, ...] = ()
    work: OwnWork | None = None
    try:
        refuse_degenerate(bench, task)
        with contextlib.ExitStack() as stack:
            state = bench.start(job.source, task)
            stack.callback(bench.end, state)
            caller = Caller(bench.side, task, bench.off)
            bench.fill(state, job.source, task, artifacts)
            state.notes += _rounds(bench, task, caller, state, job.rounds, rounds)
            library = artifacts.get(job.source.sha256)
            work = whose_work(task, caller, state, job.source, library, bench.off)
            finish(bench, caller, state)
            bench.compiled.remember(job.source, job.task, state.worker.folder, state.cold_ns)
            notes = (*state.notes, *filter(None, (note(work),)))
    except Refusal as refusal:
        reason, detail = refusal.code, refusal.detail
        if reason in MISCOMPUTED:
            detail = "\n".join(filter(None, (detail, doubt(bench, job.source, task))))
    return Checked(
        passed=reason is None,
        reason=reason,
        detail=detail,
        atol=task.tolerance.atol,
        rtol=task.tolerance.rtol,
        tolerance_from=task.tolerance.source,
        rounds=tuple(rounds),
        warnings=notes,
        elapsed_s=seconds_since(start),
        work=work,
    )


def refuse_degenerate(bench: Bench, task: LoadedTask) -> None:
    """Refusal when a kernel that does nothing useful would pass this task."""
    from kbs_backends.tasks import degenerate, infinities

    if "task_dummies" in bench.off:
        task.prepared("setup")  # still tells which outputs the reference reads
        return
    passing = degenerate(task.reference, task.tolerance, _seed(), task.device)
    if passing:
        cause = infinities(task.reference, _seed(), task.device)
        raise Refusal("task_degenerate", f"the dummy '{passing}' passes{cause and f': {cause}'}")


def finish(bench: Bench, caller: Caller, state: ArmState) -> None:
    """After the last call: late writes, threads, processes, global state."""
    time.sleep(0.002)
    caller.settle(state)
    if state.trusted:
        return
    state.worker.inspect(
        threads="thread_census" not in bench.off, state="state_snapshot" not in bench.off
    )
    caller.settle(state)  # what the census no longer met has written by now


def _rounds(
    bench: Bench,
    task: LoadedTask,
    caller: Caller,
    state: ArmState,
    count: int,
    rounds: list[Round],
) -> list[str]:
    """Judge ``count`` rounds; which distributions never could judge, in words."""
    unusable = 0
    never: dict[str, str] = {}
    judged = set()
    distributions = _distributions(bench)
    while len(rounds) < count:
        distribution = next(distributions) if unusable < MOST_UNUSABLE else "setup"
        values, made = task.prepared(distribution)
        if not made.usable:
            unusable += 1
            never.setdefault(distribution, made.why_not)
            if distribution == "setup" and unusable > 2 * MOST_UNUSABLE:
                raise InputError(
                    f"the reference in its own data type misses the tolerance: {made.why_not}",
                    where=str(task.reference_path.name),
                    remedy="declare atol and rtol in the reference, or give --atol and --rtol",
                )
            continue
        unusable = 0
        judged.add(distribution)
        try:
            facts = caller.call(state, values)
        except Refusal as refusal:
            rounds.append(_failed(distribution))
            if distribution == "setup" or refusal.code not in ("wrong_result", "nonfinite"):
                raise
            told = "; ".join(filter(None, (refusal.detail, _redrawn(task))))
            raise Refusal(refusal.code, told) from refusal
        found = facts.difference
        rounds.append(
            Round(
                distribution=distribution,
                compared_elements=found.compared_elements if found else 0,
                ok=True,
                max_abs_err=found.max_abs_err if found else None,
                max_rel_err=found.max_rel_err if found else None,
                eager_max_abs_err=made.eager_max_abs_err,
                output=found.output if found else "",
            )
        )
        if len(rounds) == count and "repeat_bits" not in bench.off:
            _again(caller, state, values)
    return [
        f"'{name}' inputs never judged the kernel: {why}"
        for name, why in never.items()
        if name not in judged
    ]


def _redrawn(task: LoadedTask) -> str:
    """What distributions other than setup()'s draw anew: it may have to stay as it is."""
    from kbs_backends.tasks.distributions import redrawn

    names, constant = redrawn(task.reference, _seed(), task.device)
    if not names:
        return ""
    varied = f", of which setup() gives {', '.join(constant)} one value everywhere"
    return (
        f"this round drew {', '.join(names)} anew{varied if constant else ''}; where only what "
        'setup() draws is valid (a table, sorted values), say domains = {"NAME": "setup"} in the '
        "reference"
    )


def _again(caller: Caller, state: ArmState, values: Any) -> None:
    """The same inputs at another address: a result out of tolerance now is a race."""
    before = state.history.latest()
    try:
        caller.call(state, values, repeated=True)
    except Refusal as refusal:
        if refusal.code in ("wrong_result", "nonfinite", "unwritten_elements"):
            raise Refusal("nondeterministic", refusal.detail) from refusal
        raise
    after = state.history.latest()
    if before and after and not all(same_bits(before[name], after[name]) for name in before):
        state.notes.append("not_bit_reproducible")


def _failed(distribution: str) -> Round:
    return Round(distribution=distribution, compared_elements=0, ok=False)


def _distributions(bench: Bench) -> Iterator[str]:
    """All of them in turn, ``setup`` first; only that one where the defence is off."""
    from kbs_backends.tasks import DISTRIBUTIONS

    names = ("setup",) if "distributions" in bench.off else DISTRIBUTIONS
    while True:
        yield from names


def _seed() -> int:
    import secrets

    return secrets.randbits(31)
