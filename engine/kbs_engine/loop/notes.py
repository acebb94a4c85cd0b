"""The notes that leave a version: evidence, plan, hypothesis and the request to the writer."""

from __future__ import annotations

import msgspec

from kbs_engine.loop.asks import Advice
from kbs_engine.loop.budget import Budget
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.ledger import Facts, Ledger
from kbs_engine.loop.stopping import Stop
from kbs_engine.plans import Plan
from kbs_engine.run.records import (
    Budget as BudgetRecord,
)
from kbs_engine.run.records import (
    Contract,
    EvidenceNote,
    Feedback,
    Hypothesis,
    PlanNote,
    RequestFile,
    RooflineFile,
    Search,
    roofline_file,
)
from kbs_engine.run.state import ToleranceUsed

PYTHON_RULES = (
    "keep run_kernel(**kwargs); the harness makes the inputs, your setup() decides nothing",
    "outputs are poisoned, inputs fresh and buffers moved in every timed call",
    "no library call may do the work of the kernel",
)
CUDA_RULES = (
    'keep extern "C" void solve(...) with the same arguments',
    "outputs are poisoned, inputs fresh and buffers moved in every timed call",
    "all streams count; no library call may do the work of the kernel",
)
MARKS = {
    ".py": "BLOCK = 64  # kbs:tunable 32, 64, 128   and   GROUPED = True  # kbs:method METHOD_ID",
    ".cu": "constexpr int BM = 64;  // kbs:tunable 32, 64, 128   and   "
    "#define PAD 1  // kbs:method METHOD_ID",
}


def evidence_note(number: int, advice: Advice, plan: Plan, stop: Stop | None) -> EvidenceNote:
    """What was asked and found, with how it led to the decision."""
    if stop is not None:
        link = f"The run stops: {stop.reason} ({stop.detail})."
    elif plan.methods:
        link = "; ".join(f"{row.method} because {row.evidence}" for row in plan.methods)
    else:
        link = "Nothing is planned."
    return msgspec.structs.replace(advice.evidence, version=number, decision_link=link)


def plan_note(number: int, base: Facts, advice: Advice, plan: Plan, budget: Budget) -> PlanNote:
    """plan.md: what leads to the next version."""
    facts = [
        f"v{base.number} is the version to change: {base.median_ns or 0:.0f} ns",
        f"limiter {advice.roofline.limiter}, algorithm bound by {advice.roofline.algorithm_bound}",
    ]
    facts += [f"{row.axis}: {row.slots} slots, {row.why}" for row in budget.axes]
    actions = [f"{row.method}: {row.change}" for row in plan.methods]
    actions += [] if base.faster is None else [f"race {base.faster.note}"]
    actions += [f"not {row.method}: {row.reason}" for row in plan.skipped]
    return PlanNote(
        version=number,
        input_evidence=(*facts, *advice.evidence.facts),
        search_log=tuple(
            Search(
                source="knowledge base",
                query=query.text,
                finding=query.answer,
                actionability="see Selected Evidence",
            )
            for query in advice.evidence.queries
        ),
        action=tuple(actions) or ("nothing: the run ends here",),
        expected_impact=tuple(
            f"{row.method}: {name} {way}"
            for row in plan.methods
            for name, way in row.expected.items()
        )
        or ("none",),
        risks_and_rollback=(
            *(f"{row.method}: {row.risk}" for row in plan.methods),
            f"rollback: v{base.number} stays the best version until a correct one is faster",
        ),
    )


def hypothesis_note(
    number: int, base: Facts, advice: Advice, plan: Plan, *, again: bool
) -> Hypothesis:
    """hypothesis.txt: the next change and how it will be judged.

    ``again``: there is none, the best version is measured under other constraints.
    """
    if again:
        return _again(number, base, advice)
    without = () if base.faster is None else (base.faster.note,)
    if not plan.methods:
        return _without(number, base, advice, without)
    citations = [
        line for row in advice.ranked if row.method in _ids(plan) for line in row.citations
    ]
    return Hypothesis(
        version=number,
        current_evidence=tuple(f"{row.method}: {row.evidence}" for row in plan.methods),
        decision_link=f"ranked by score under the budget of v{number}'s roofline.json",
        change=(
            *(f"{row.method}: {row.change}" for row in plan.methods),
            *(f"beside it {told}" for told in without),
        ),
        rationale=f"the methods return most of the time that v{base.number} loses",
        expected=tuple(
            f"{name} {way}" for row in plan.methods for name, way in row.expected.items()
        ),
        risk="; ".join(f"{row.method}: {row.risk}" for row in plan.methods),
        evidence_used=tuple(dict.fromkeys(citations))
        or tuple(row.citation for row in advice.evidence.selected),
        decision_rule=(
            "kept when correct and faster; a method is credited where, with it off, the whole 95 % "
            "interval is slower beyond the noise threshold; where the version is faster without "
            "one, it races without it in the next version"
        ),
    )


def _without(number: int, base: Facts, advice: Advice, without: tuple[str, ...]) -> Hypothesis:
    """No method is left to add, and one to take away."""
    return Hypothesis(
        version=number,
        current_evidence=without,
        decision_link=f"the ablation of v{base.number} timed it beside v{base.number}",
        change=without or ("none",),
        rationale="what its own ablation found harmful is left out",
        expected=("time: as in that timing",),
        risk="it was checked and timed as a variant; it is checked and timed again",
        evidence_used=tuple(row.citation for row in advice.evidence.selected) or ("README.md",),
        decision_rule="kept when correct and faster",
    )


def _again(number: int, base: Facts, advice: Advice) -> Hypothesis:
    """No change: the best version is measured again under other constraints."""
    return Hypothesis(
        version=number,
        current_evidence=("the constraints of the run changed: a new epoch begins",),
        decision_link="nothing is compared across epochs",
        change=(f"none: v{base.number} is measured again under the new constraints",),
        rationale="figures taken under other constraints do not count",
        expected=("time: not predicted",),
        risk="it may be wrong under the new constraints; v0 is then the best version",
        evidence_used=tuple(row.citation for row in advice.evidence.selected) or ("README.md",),
        decision_rule="kept when correct",
    )


def _ids(plan: Plan) -> set[str]:
    return {row.method for row in plan.methods}


def budget_record(budget: Budget) -> BudgetRecord:
    """The budget as roofline.json and request.json hold it."""
    return msgspec.convert(
        {
            "slots": budget.slots,
            "axis_slots": budget.by_axis,
            "axis_recoverable": {row.axis: row.recoverable for row in budget.axes},
            "axis_cap": budget.cap,
            "note": "; ".join(f"{row.axis}: {row.why}" for row in budget.axes),
        },
        BudgetRecord,
    )


def roofline_note(ledger: Ledger, facts: Facts, advice: Advice, budget: Budget) -> RooflineFile:
    """roofline.json of a version."""
    return roofline_file(
        advice.roofline,
        version=facts.number,
        source_sha256=facts.source.sha256,
        chip=ledger.described.chip,
        work=ledger.counted.work if ledger.counted else None,
        budget=budget_record(budget),
        kernels={
            f"{row.diagnosis.launch}: {row.diagnosis.name}": row.diagnosis.roofline
            for row in advice.kernels
        },
        placeholders=ledger.settings.placeholders,
    )


def request_note(
    ledger: Ledger, number: int, decision: Decision, *, feedback: tuple[Feedback, ...] = ()
) -> RequestFile:
    """request.json: all that the writer of the next version is given."""
    settings, base = ledger.settings, decision.base
    tolerance = ledger.state.tolerance or ToleranceUsed()
    advice = base.advice
    suffix = settings.kernel_suffix
    return RequestFile(
        run_id=ledger.begin.run_id,
        version=number,
        next_version=number + 1,
        base_version=base.number,
        base_file=f"v{base.number}/{settings.kernel_file}",
        base_sha256=base.source.sha256,
        arch=ledger.described.arch or ledger.arch,
        chip=ledger.described.chip,
        diagnoses=tuple(row.diagnosis for row in advice.kernels) if advice else (),
        budget=budget_record(decision.budget),
        ranked=decision.ranked,
        anti_strategies=tuple(w for row in advice.kernels for w in row.anti_strategies)
        if advice
        else (),
        filtered=tuple(f for row in advice.kernels for f in row.filtered) if advice else (),
        plan=decision.plan,
        contract=Contract(
            language=settings.language,
            entry='extern "C" void solve(...)' if suffix == ".cu" else "run_kernel(**kwargs)",
            rules=CUDA_RULES if suffix == ".cu" else PYTHON_RULES,
            dims=settings.dims,
            dtype=ledger.state.dtype,
            atol=tolerance.atol,
            rtol=tolerance.rtol,
            tolerance_from=tolerance.source,
            atol_times_rms=tolerance.atol_times_rms,
            outputs=settings.outputs,
            marks=MARKS.get(suffix, ""),
        ),
        feedback=feedback,
        frontier=tuple(row for row in ledger.state.frontier if row.version not in ledger.masked),
        branches=settings.branches,
        placeholders=settings.placeholders,
    )
