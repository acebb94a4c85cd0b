"""The race of the branches of one version: blocks of interleaved timing until one has won."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from kbs_engine.loop.ledger import Ledger, Steps
from kbs_engine.loop.measuring import median, run_jobs, time_job
from kbs_engine.results import Timed, read
from kbs_engine.run.records import merge_timed
from kbs_engine.timing import Race

if TYPE_CHECKING:
    from kbs_engine.loop.exploring import Tried

MOST_LOOKS: Final = 2
"""Blocks of a race. Timing is fixed for a run, so that a block has all the trials of a claim:
one look decides nearly always, and a second one is for branches that are close."""


def race(ledger: Ledger, number: int, branches: Sequence[Tried]) -> Steps:
    """Time the branches against each other; returns the RaceReport, fates set on the branches."""
    settings = ledger.settings
    kept = settings.timing.trials - settings.timing.discard_first
    contest = Race(len(branches), noise=settings.noise, planned_calls=MOST_LOOKS * kept)
    block = 0
    while needed := contest.needs():
        block += 1
        arms = [branch.source for branch in (branches[i] for i in needed) if branch.source]
        job = time_job(ledger, arms, pairs=1, block=ledger.next_block(number))
        (result,) = yield from run_jobs(ledger, [job], f"race, block {block}", number)
        timed = read(result, Timed)
        for arm, index in zip(timed.arms, needed, strict=True):
            branches[index].blocks.append(result)
            if arm.reason is not None:
                branches[index].reason = arm.reason
                branches[index].fault = f"{arm.reason}: {arm.detail}".rstrip(": ")
        contest.add(timed)
        if not any(arm.samples_ns for arm in timed.arms):
            break
    report = contest.report()
    for fate in report.fates:
        branch = branches[fate.arm]
        branch.median_ns, branch.ratio = _median(branch), fate.ratio
    return report


def _median(branch: Tried) -> float | None:
    merged = merge_timed([read(block, Timed) for block in branch.blocks])
    if merged is None or branch.source is None:
        return None
    own = [arm for arm in merged.arms if arm.sha256 == branch.source.sha256]
    return median(own[0]) if own else None
