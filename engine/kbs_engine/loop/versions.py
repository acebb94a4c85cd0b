"""One version from its plan to its record: branches, champion, profile, verdicts, memory."""

from __future__ import annotations

from kbs_engine.loop.ablating import ablate
from kbs_engine.loop.actions import CloseVersion, NoteCommit
from kbs_engine.loop.asks import (
    CheckGate,
    Commit,
    Committed,
    GatePassed,
    GateRefused,
    Remember,
)
from kbs_engine.loop.deciding import diagnose
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.exploring import (
    Explored,
    Tried,
    explore,
)
from kbs_engine.loop.failing import fail
from kbs_engine.loop.frontier import frontier_of
from kbs_engine.loop.giving_up import give_up, keep
from kbs_engine.loop.ledger import Facts, Ledger, Steps, put
from kbs_engine.loop.measuring import (
    against,
    baseline_arms,
    check,
    inspect,
    median,
    time_with,
)
from kbs_engine.loop.proving import Proven, choose_champion, inspected
from kbs_engine.loop.recording import memory_record, outcomes, verdicts_of
from kbs_engine.loop.searching import search
from kbs_engine.loop.verifying import verify
from kbs_engine.loop.version_files import (
    methods_file,
    write_measured,
    write_profile,
)
from kbs_engine.run.judged import AttributionFile
from kbs_engine.run.records import (
    VersionEntry,
)
from kbs_engine.timing import Comparison
from kbs_engine.units import human_ns


def first_version(ledger: Ledger) -> Steps:
    """Measure the baseline as v0; False when it is wrong, for then nothing can be compared."""
    facts = Facts(number=0, base=None, source=ledger.begin.baseline)
    ledger.versions[0] = facts
    ledger.enter(VersionEntry(version=0, sha256=facts.source.sha256))
    yield ledger.progress("measure", 0, "check and time the baseline")
    yield from check(ledger, facts, what="check the baseline")
    refused = None
    if facts.checked is not None and facts.checked.passed:
        refused = yield from time_with(ledger, facts, baseline_arms(ledger), "time the baseline")
    counters = facts.median_ns is not None and refused is None
    yield from inspect(ledger, facts, counters=counters)
    yield from write_measured(ledger, facts)
    if facts.median_ns is None or refused is not None:
        told = facts.checked if facts.checked and not facts.checked.passed else refused
        why = f"{told.reason}: {told.detail}".rstrip(": ") if told else "it was not timed"
        ledger.update(ended="stopped", loop={"because": f"the baseline is refused: {why}"})
        yield ledger.save()
        yield ledger.progress("measure", 0, f"the baseline is refused: {why}", done=True)
        return False
    note_baselines(ledger, facts)
    ledger.amend(0, median_ns=facts.median_ns, speedup_v0=1.0)
    ledger.update(best_ns=facts.median_ns)
    yield from write_profile(facts)
    yield from diagnose(ledger, facts)
    yield put("memory/v0.json", memory_record(ledger, facts, None, "the baseline"))
    yield ledger.save()
    yield ledger.progress("measure", 0, human_ns(facts.median_ns), done=True)
    return True


def note_baselines(ledger: Ledger, facts: Facts) -> None:
    """Keep the times of the library baselines that ran beside v0."""
    if facts.timed is None:
        return
    for arm in facts.timed.arms[1:]:
        time = median(arm)
        if time is not None:
            ledger.baselines[arm.name] = time


def next_version(ledger: Ledger, number: int, decision: Decision) -> Steps:
    """Make the version after ``number``; returns its number, whether it got better or not.

    Orders that come before anything was tried close it again: ``number`` is returned.
    """
    following = number + 1
    ledger.attempts += 1
    before = ledger.state.gpu_seconds_used
    explored: Explored = yield from explore(ledger, following, decision)
    if explored.withdrawn and not explored.branches:
        ledger.attempts -= 1
        yield CloseVersion(version=following)
        return number
    explored = yield from search(ledger, following, decision, explored, before)
    proven: Proven | None = yield from choose_champion(ledger, following, decision, explored)
    champion, facts = (proven.branch, proven.facts) if proven else (None, None)
    frontier = frontier_of(following, explored, champion)
    ledger.update(frontier=(*ledger.state.frontier, *frontier))
    held = methods_file(ledger, following, decision, facts, explored.claimed)
    yield put(f"v{following}/methods.json", held)
    if proven is None:
        yield from fail(ledger, following, decision, explored)
    else:
        yield from _measured(ledger, proven, decision, explored.tries)
    ledger.dearest = max(ledger.dearest, ledger.state.gpu_seconds_used - before - ledger.further)
    return following


def _measured(ledger: Ledger, proven: Proven, decision: Decision, tries: int) -> Steps:
    """Everything that follows a champion, up to its record."""
    facts, base, offered = proven.facts, decision.base, proven.branch.offered
    number, ablation = facts.number, proven.ablation
    ledger.versions[number] = facts
    if ablation is None:
        ablation = yield from inspected(ledger, facts, base, offered)
    yield from write_measured(ledger, facts)
    yield from write_profile(facts)
    sass = yield from verify(ledger, facts, base)
    yield put(f"v{number}/sass_check.json", sass)
    attributed: AttributionFile = yield from ablate(ledger, facts, base, ablation, sass)
    yield put(f"v{number}/attribution.json", attributed)
    if ledger.settings.together:
        facts.faster = ablation.faster(facts, ledger.settings.noise)
    found = against(facts.timed, 0, 1, ledger.settings.noise) if facts.timed else None
    compared = _compared(ledger, found)
    enter(ledger, facts, tries)
    ledger.update(verdicts=(*ledger.state.verdicts, *verdicts_of(number, attributed)))
    yield from diagnose(ledger, facts)
    yield put(f"memory/v{number}.json", memory_record(ledger, facts, attributed, compared))
    yield Remember(version=number, outcomes=outcomes(ledger, facts, base, attributed))
    _tuned(base, proven.branch, facts)
    if found is not None and found.verdict == "faster":
        ledger.best = number
        ledger.update(best_version=number, best_ns=facts.median_ns)
    yield ledger.save()
    yield ledger.progress("record", number, compared, done=True)


def _tuned(base: Facts, champion: Tried, facts: Facts) -> None:
    """What was measured on the base's own source need not be measured there again."""
    if champion.offered.source.sha256 == base.source.sha256:
        base.tried = (*base.tried, *facts.tried)


def _compared(ledger: Ledger, found: Comparison | None) -> str:
    if found is None:
        return f"could not be compared with v{ledger.best}"
    return (
        f"{found.verdict} than v{ledger.best}: {found.ratio:.3f} times as fast, 95 % interval "
        f"{found.low:.3f} to {found.high:.3f}"
    ).replace("within noise than", "within noise of")


def enter(ledger: Ledger, facts: Facts, tries: int) -> None:
    """The version's entry, with its speedup over v0 where they took turns."""
    timed, zero = facts.timed, ledger.versions[0].source.sha256
    arms = enumerate(timed.arms if timed else ())
    place = next((i for i, arm in arms if i and arm.sha256 == zero), 0)
    found = against(timed, 0, place, ledger.settings.noise) if timed and place else None
    ledger.enter(
        VersionEntry(
            version=facts.number,
            base_version=facts.base,
            epoch=ledger.state.epoch,
            sha256=facts.source.sha256,
            median_ns=facts.median_ns,
            speedup_v0=found.ratio if found else None,
            speedup_v0_low=found.low if found else None,
            speedup_v0_high=found.high if found else None,
            methods=facts.methods,
            tries=tries,
        )
    )


def accept(ledger: Ledger, number: int, decision: Decision) -> Steps:
    """The gate on a version, then its commit; state and records are on disk before.

    Returns:
        False for a version that was given up.
    """
    final = decision.stop is not None
    yield ledger.save()
    answer: GatePassed | GateRefused = yield CheckGate(
        version=number, final=final, epoch=ledger.state.epoch
    )
    if isinstance(answer, GateRefused):
        yield from give_up(ledger, number, answer.why)
        return False
    entry = ledger.state.version(number)
    if entry is not None and entry.status not in ("failed", "refused"):
        ledger.amend(number, status="accepted")
    told = ", ".join(ledger.versions[number].methods) or ("baseline" if number == 0 else "tuned")
    done: Committed = yield Commit(version=number, message=f"v{number}: {told}")
    ledger.amend(number, commit=done.commit)
    yield NoteCommit(version=number, commit=done.commit)
    yield ledger.save()
    ledger.kept = keep(ledger)
    yield ledger.progress("gate", number, "passed", done=True)
    return True
