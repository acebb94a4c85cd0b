"""Measuring one version like any other: check, time, machine code, counters, sanitizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from kbs_engine.adaptive import ProfilePlan
from kbs_engine.jobs import (
    AnyJob,
    Arm,
    BaselineRef,
    Check,
    Compile,
    Disassemble,
    ProfileJob,
    Result,
    Sanitize,
    SourceRef,
    Time,
)
from kbs_engine.loop.asks import JobsDone, RunJobs
from kbs_engine.loop.ledger import Facts, Ledger, Steps
from kbs_engine.results import ArmTimes, Checked, Compiled, Disassembled, Profiled, Timed, read
from kbs_engine.run.claims import disbelieved, proof_of
from kbs_engine.timing import Comparison, compare, summary

_WITHOUT: Final = ("compile", "disassemble", "sanitize")
"""Kinds of job without which a version can be told: no tool for them may be here."""


def run_jobs(
    ledger: Ledger,
    jobs: Sequence[AnyJob],
    what: str,
    version: int,
    *,
    branch: str = "",
    optional: tuple[str, ...] = (),
) -> Steps:
    """Ask for jobs and count what they spent; returns their results in order."""
    if not jobs:
        return ()
    answer: JobsDone = yield RunJobs(
        jobs=tuple(jobs), what=what, version=version, branch=branch, optional=optional
    )
    for result in answer.results:
        ledger.spend(result)
    return answer.results


def check_job(ledger: Ledger, source: SourceRef) -> Check:
    """The correctness check of a source under the run's settings."""
    return Check(source=source, task=ledger.task, rounds=ledger.settings.check_rounds)


def time_job(ledger: Ledger, arms: Sequence[Arm], *, pairs: int, block: int) -> Time:
    """A timing block under the run's settings; ``block`` tells it from every other."""
    return Time(
        arms=tuple(arms),
        task=ledger.task,
        settings=ledger.settings.timing,
        block=block,
        fresh_processes=pairs,
    )


def check(ledger: Ledger, facts: Facts, *, what: str = "check") -> Steps:
    """Check the version's source; its facts hold the verdict afterwards."""
    (result,) = yield from run_jobs(ledger, [check_job(ledger, facts.source)], what, facts.number)
    facts.check = result
    facts.checked = checked = read(result, Checked)
    ledger.checked_with(checked)


def time_with(ledger: Ledger, facts: Facts, others: Sequence[Arm], what: str) -> Steps:
    """Time the version interleaved with ``others`` in fresh process pairs; its own refusal, if any.

    Returns:
        The reason code for which the version's own arm was refused; None when it was timed.
    """
    job = time_job(
        ledger,
        [facts.source, *others],
        pairs=ledger.settings.process_pairs,
        block=ledger.next_block(facts.number),
    )
    (result,) = yield from run_jobs(ledger, [job], what, facts.number)
    timed = read(result, Timed)
    facts.time, facts.timed = result, timed
    own = timed.arms[0]
    if own.reason is not None:
        return own
    facts.median_ns = median(own)
    return None


def not_believed(ledger: Ledger, facts: Facts) -> ArmTimes | None:
    """The version's arm as refused, where its claim of a gain over its rivals does not hold."""
    if facts.timed is None:
        return None
    own = facts.source.sha256
    proof = proof_of(facts.timed, own, ledger.begin.baseline.sha256)
    found = disbelieved(proof, own, ledger.settings.noise)
    if not found[0]:
        return None
    return msgspec.structs.replace(facts.timed.arms[0], reason=found[0], detail=found[1])


def median(arm: ArmTimes) -> float | None:
    """Median device time of an arm in ns; None where it was refused or has no samples."""
    if arm.reason is not None or not arm.samples_ns:
        return None
    return summary(arm.samples_ns).median_ns


def against(timed: Timed, a: int, b: int, noise: float) -> Comparison | None:
    """How many times faster arm ``a`` is than arm ``b``; None where one has no samples."""
    if median(timed.arms[a]) is None or median(timed.arms[b]) is None:
        return None
    return compare(timed, a, b, noise=noise)


def baseline_arms(ledger: Ledger) -> tuple[BaselineRef, ...]:
    """The library baselines that the run is measured against."""
    return tuple(BaselineRef(name=name) for name in ledger.settings.baselines)


def inspect(
    ledger: Ledger, facts: Facts, *, counters: bool = True, beside: Sequence[Check] = ()
) -> Steps:
    """Machine code, hardware counters and sanitizer of a version, as far as this device has them.

    Asked for together: a device disassembles and compiles while a profiler runs, and checks what
    is ``beside`` while the sanitizer does.

    Args:
        ledger: the run.
        facts: the version; what was found is in them afterwards.
        counters: False leaves the profiler out; a run without counters never has it.
        beside: checks of other sources.

    Returns:
        The results of the checks, in order.
    """
    source, task = facts.source, ledger.task
    jobs: list[AnyJob] = []
    if ledger.arch:
        jobs += [
            Compile(source=source, arch=ledger.arch, task=task),
            Disassemble(source=source, arch=ledger.arch, task=task),
        ]
    if ledger.counters and counters:
        jobs.append(ProfileJob(source=source, task=task))
    if ledger.machine is not None and ledger.machine.device == "cuda":
        jobs.append(Sanitize(source=source, task=task))
    what = "machine code, counters, sanitizer" + ", checks of ablations" * bool(beside)
    every = (*jobs, *beside)
    results = yield from run_jobs(ledger, every, what, facts.number, optional=_WITHOUT)
    found = {result.kind: result for result in results[: len(jobs)]}
    facts.compiled = _value(found.get("compile"), Compiled)
    facts.listing = _value(found.get("disassemble"), Disassembled)
    facts.sanitized = found.get("sanitize")
    facts.profile = found.get("profile")
    facts.profiled = None if facts.profile is None else read(facts.profile, Profiled)
    return results[len(jobs) :]


def profile_again(ledger: Ledger, facts: Facts, plan: ProfilePlan) -> Steps:
    """The second pass of the profiler; without it what the first one said stands."""
    job = ProfileJob(
        source=facts.source, task=ledger.task, sections=plan.sections, metrics=plan.metrics
    )
    what = "counters that separate the leading causes"
    (result,) = yield from run_jobs(ledger, [job], what, facts.number, optional=("profile",))
    if result.value is not None and read(result, Profiled).report_sha256:
        facts.second = result


def _value(result: Result | None, kind: type[Any]) -> Any:
    """The answer of an optional job; None where it could not be carried out."""
    if result is None or result.value is None:
        return None
    return msgspec.convert(result.value, kind)
