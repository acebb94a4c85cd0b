"""The first version of a new epoch: the best one, measured again beside v0."""

from __future__ import annotations

from kbs_engine.loop.ablating import ablate
from kbs_engine.loop.actions import CloseVersion, MakeFront
from kbs_engine.loop.deciding import diagnose
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.exploring import Tried, write_branches
from kbs_engine.loop.giving_up import take_back
from kbs_engine.loop.ledger import Facts, Ledger, Steps, put
from kbs_engine.loop.measuring import (
    check,
    check_job,
    median,
    run_jobs,
    time_with,
)
from kbs_engine.loop.parts import Offered
from kbs_engine.loop.preparing import prepare_epoch
from kbs_engine.loop.proving import inspected, rivals
from kbs_engine.loop.recording import memory_record
from kbs_engine.loop.verifying import verify
from kbs_engine.loop.version_files import (
    methods_file,
    write_measured,
    write_profile,
)
from kbs_engine.loop.versions import enter, note_baselines


def remeasure(ledger: Ledger, number: int, decision: Decision) -> Steps:
    """Measure the best version again as the version after ``number``; returns its number.

    The baseline is checked under the new constraints too. Where the best version is wrong
    under them, the baseline takes its place. Where that is wrong too, nothing could be compared:
    the constraints are taken back, the run ends, and ``number`` is returned.
    """
    following = number + 1
    base, zero = decision.base, ledger.versions[0]
    yield from prepare_epoch(ledger, following)
    facts = Facts(number=following, base=base.number, source=base.source, inherited=base.applied)
    why = yield from _checked_again(ledger, facts)
    if why:
        return (yield from _take_back(ledger, number, why))
    ledger.versions[following] = facts
    yield from time_with(ledger, facts, rivals(ledger), "time again")
    if facts.timed is not None and len(facts.timed.arms) > 1:
        zero.median_ns = median(facts.timed.arms[-1])
    else:
        zero.median_ns = facts.median_ns
    offered = Offered(source=facts.source)
    # no method came in with this version, so no variant was there to be timed with it
    ablation = yield from inspected(ledger, facts, base, offered)
    yield from write_measured(ledger, facts)
    yield from write_profile(facts)
    branch = Tried(
        name="b0",
        offered=offered,
        source=facts.source,
        tunables=facts.source.tunables,
        check=facts.check,
        blocks=[facts.time] if facts.time else [],
        compiled=facts.compiled,
    )
    yield from write_branches(ledger, following, [branch])
    sass = yield from verify(ledger, facts, base)
    yield put(f"v{following}/sass_check.json", sass)
    attributed = yield from ablate(ledger, facts, base, ablation, sass)
    yield put(f"v{following}/attribution.json", attributed)
    yield put(f"v{following}/methods.json", methods_file(ledger, following, decision, facts))
    enter(ledger, facts, 1)
    note_baselines(ledger, facts)
    ledger.best, ledger.remeasure = following, False
    ledger.update(best_version=following, best_ns=facts.median_ns)
    yield from diagnose(ledger, facts)
    told = f"v{base.number} measured again in epoch {ledger.state.epoch}"
    record = memory_record(ledger, facts, attributed, told)
    yield put(f"memory/v{following}.json", record)
    yield ledger.save()
    work = ledger.counted.work if ledger.counted else None
    yield MakeFront(described=ledger.described, work=work)  # its tolerance is known by now
    yield ledger.progress("record", following, told, done=True)
    return following


def _checked_again(ledger: Ledger, facts: Facts) -> Steps:
    """Check v0 and the best version, which v0 replaces where it is wrong.

    Returns:
        Why neither is right under the constraints; empty where one is.
    """
    zero = ledger.versions[0]
    job = check_job(ledger, zero.source)
    (again,) = yield from run_jobs(
        ledger, [job], "check v0 again", facts.number, optional=("check",)
    )
    if again.failure is not None:
        return again.failure
    zero.check = again
    yield from check(ledger, facts, what="check the best version again")
    if facts.checked is None or not facts.checked.passed:
        facts.source, facts.inherited = zero.source, ()
        yield from check(ledger, facts, what="check the baseline again")
    found = facts.checked
    if found is None or found.passed:
        return ""
    return f"{found.reason}: {found.detail}".rstrip(": ")


def _take_back(ledger: Ledger, number: int, why: str) -> Steps:
    """End the epoch before its first version; the run stops at ``number``, which is returned."""
    ledger.taken_back = (
        f"epoch {ledger.state.epoch} is taken back, for v0 is refused under it: {why}"
    )
    yield from take_back(ledger, why)
    ledger.finishing = True
    yield CloseVersion(version=number + 1)
    yield ledger.progress("measure", number + 1, ledger.taken_back, done=True)
    return number
