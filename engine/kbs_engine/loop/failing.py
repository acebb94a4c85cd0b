"""A version none of whose branches was ever right: recorded, and the run goes on."""

from __future__ import annotations

from collections.abc import Sequence

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


def fail(ledger: Ledger, number: int, decision: Decision, explored: Explored) -> Steps:
    """A version none of whose branches was ever right: recorded, and the run goes on."""
    base, plan = decision.base, decision.plan
    why = explored.feedback[-1].detail if explored.feedback else "the proposer had nothing"
    ledger.versions[number] = Facts(number=number, base=base.number, source=base.source)
    ledger.enter(
        VersionEntry(
            version=number,
            base_version=base.number,
            epoch=ledger.state.epoch,
            status="failed",
            methods=tuple(row.method for row in plan.methods),
            tries=explored.tries,
        )
    )
    rows = tuple(
        MethodVerdict(version=number, method=row.method, verdict="implementation_failed")
        for row in plan.methods
    )
    ledger.update(verdicts=(*ledger.state.verdicts, *rows))
    yield put(f"memory/v{number}.json", failed_memory(number, plan, explored.feedback))
    yield Remember(version=number, outcomes=failed_outcomes(ledger, number, base, plan, why))
    yield ledger.save()
    yield ledger.progress("record", number, f"failed: {why}", done=True)


def failed_memory(number: int, plan: Plan, feedback: Sequence[Feedback]) -> MemoryRecord:
    """memory/vN.json of a failed version: what was tried and how it went wrong."""
    return MemoryRecord(
        version=number,
        optimization=Optimization(action_category=", ".join(row.method for row in plan.methods)),
        experience=Experience(
            experiments=tuple(
                Experiment(method=row.method, verdict="implementation_failed", result="wrong")
                for row in plan.methods
            )
        ),
        correctness=Correctness(status="FAIL"),
        pitfalls_and_fixes=tuple(
            Pitfall(problem=f"{row.branch or 'proposal'}: {row.reason}: {row.detail}"[:400])
            for row in feedback
        ),
    )
