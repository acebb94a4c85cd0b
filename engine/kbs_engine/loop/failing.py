"""A version none of whose branches was ever right: recorded, and the run goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbs_engine.loop.asks import Remember
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.exploring import Explored
from kbs_engine.loop.ledger import Facts, Ledger, Steps, put
from kbs_engine.loop.recording import failed_outcomes
from kbs_engine.plans import Plan
from kbs_engine.run.records import (
    Correctness,
    Experience,
    Experiment,
    Feedback,
    MemoryRecord,
    MethodVerdict,
    Optimization,
    Pitfall,
    VersionEntry,
)

NOTHING = "the proposer had nothing"


def fail(ledger: Ledger, number: int, decision: Decision, explored: Explored) -> Steps:
    """A version none of whose branches was ever right: recorded, and the run goes on.

    A planned method failed only where a branch claimed to hold it. One that nobody wrote has
    no verdict and may be planned again; where nothing at all was written, the planned methods
    are set aside on this source, for asking again would end the same way.
    """
    base, plan = decision.base, decision.plan
    whys = failures(plan, explored)
    why = explored.feedback[-1].detail if explored.feedback else NOTHING
    told = f"planned for v{number}, and no kernel was written with it: {why}"
    ledger.versions[number] = Facts(
        number=number,
        base=base.number,
        source=base.source,
        unwritten={} if explored.branches else {row.method: told for row in plan.methods},
    )
    ledger.enter(
        VersionEntry(
            version=number,
            base_version=base.number,
            epoch=ledger.state.epoch,
            status="failed",
            methods=tuple(whys),
            tries=explored.tries,
        )
    )
    rows = tuple(
        MethodVerdict(version=number, method=method, verdict="implementation_failed")
        for method in whys
    )
    ledger.update(verdicts=(*ledger.state.verdicts, *rows))
    yield put(f"memory/v{number}.json", failed_memory(number, tuple(whys), explored.feedback))
    yield Remember(version=number, outcomes=failed_outcomes(ledger, number, base, whys))
    yield ledger.save()
    yield ledger.progress("record", number, f"failed: {why}", done=True)


def failures(plan: Plan, explored: Explored) -> Mapping[str, str]:
    """Planned methods that a branch claimed to hold, each with why its last branch is out."""
    found: dict[str, str] = {}
    for row in plan.methods:
        mine = [branch for branch in explored.branches if row.method in branch.offered.methods]
        if mine:
            found[row.method] = mine[-1].fault
    return found


def failed_memory(number: int, tried: Sequence[str], feedback: Sequence[Feedback]) -> MemoryRecord:
    """memory/vN.json of a failed version: what was tried and how it went wrong."""
    return MemoryRecord(
        version=number,
        optimization=Optimization(action_category=", ".join(tried)),
        experience=Experience(
            experiments=tuple(
                Experiment(method=method, verdict="implementation_failed", result="wrong")
                for method in tried
            )
        ),
        correctness=Correctness(status="FAIL"),
        pitfalls_and_fixes=tuple(
            Pitfall(problem=f"{row.branch or 'proposal'}: {row.reason}: {row.detail}"[:400])
            for row in feedback
        ),
    )
