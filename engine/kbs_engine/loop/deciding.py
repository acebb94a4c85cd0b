"""From a measured version to the decision: diagnose, share the budget, plan, or stop."""

from __future__ import annotations

from collections import Counter

import msgspec

from kbs_engine.loop.actions import MakeAnalysis, MakeFront
from kbs_engine.loop.asks import Advice, Advise
from kbs_engine.loop.budget import Budget
from kbs_engine.loop.costs import next_costs
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.ledger import Facts, Ledger, Steps, put
from kbs_engine.loop.measuring import profile_again
from kbs_engine.loop.notes import (
    evidence_note,
    hypothesis_note,
    plan_note,
    request_note,
    roofline_note,
)
from kbs_engine.loop.planning import Planning, make_plan
from kbs_engine.loop.stopping import Standing, stop_now
from kbs_engine.loop.version_files import write_report
from kbs_engine.plans import Plan
from kbs_engine.recommendations import Recommendation
from kbs_engine.results import Machine, Profiled, read
from kbs_engine.run.markdown import evidence_text, hypothesis_text, plan_text
from kbs_engine.run.records import NcuTop, RooflinePoint

SPENT_VERDICTS = ("ineffective", "harmful", "implementation_failed", "inseparable")


def advise(ledger: Ledger, facts: Facts) -> Steps:
    """Diagnosis and ranked methods of a measured version, asked once.

    Where the first pass of the profiler leaves rivals among the leading causes, a second one
    collects what separates them, and the question is asked again with both.
    """
    if facts.advice is not None:
        return
    if ledger.machine is None or facts.median_ns is None:
        raise ValueError(f"v{facts.number} is not measured")
    facts.advice = yield _question(ledger, facts, facts.median_ns, ledger.machine)
    plan = facts.advice.next_pass if facts.advice else None
    if plan is None or plan.empty or facts.profiled is None:
        return
    yield from profile_again(ledger, facts, plan)
    if facts.second is not None:
        facts.advice = yield _question(ledger, facts, facts.median_ns, ledger.machine)


def _question(ledger: Ledger, facts: Facts, time_ns: float, machine: Machine) -> Advise:
    return Advise(
        version=facts.number,
        source=facts.source,
        settings=ledger.settings,
        machine=machine,
        counted=ledger.counted,
        profile=facts.profiled,
        second=read(facts.second, Profiled) if facts.second else None,
        time_ns=time_ns,
        applied=facts.applied,
        compiled=facts.compiled,
        opcodes=_opcodes(facts),
        tried=facts.tried,
        as_of=ledger.begin.created_at[:10],
    )


def _opcodes(facts: Facts) -> dict[str, int]:
    if facts.listing is None:
        return {}
    names = (i.mnemonic for function in facts.listing.functions for i in function.instructions)
    return dict(sorted(Counter(names).items()))


def diagnose(ledger: Ledger, facts: Facts) -> Steps:
    """Advice on a version, with the files that tell what limits it."""
    yield from advise(ledger, facts)
    advice = _advice(facts)
    line = advice.roofline
    point = RooflinePoint(
        version=facts.number,
        time_ns=facts.median_ns,
        limiter=line.limiter,
        algorithm_bound=line.algorithm_bound,
        gap=line.gap,
        gap_memory=line.gap_memory,
        gap_compute=line.gap_compute,
        gap_latency=line.gap_latency,
        dominant_stall=_dominant_stall(advice),
    )
    history = [row for row in ledger.state.roofline_history if row.version != facts.number]
    ledger.update(roofline_history=(*history, point))
    folder = f"v{facts.number}"
    if facts.second is not None:
        yield from write_report(facts, "profile_second", read(facts.second, Profiled))
    yield put(f"{folder}/ncu_summary.md", advice.summary)
    yield put(f"{folder}/ncu_details.md", advice.details)
    yield put(f"{folder}/ncu_top.json", _top(ledger, facts, advice))


def _advice(facts: Facts) -> Advice:
    if facts.advice is None:
        raise ValueError(f"v{facts.number} was not diagnosed")
    return facts.advice


def _top(ledger: Ledger, facts: Facts, advice: Advice) -> NcuTop:
    top = advice.top or NcuTop(
        version=facts.number, source_sha256=facts.source.sha256, mode=ledger.settings.mode
    )
    return msgspec.structs.replace(
        top, version=facts.number, source_sha256=facts.source.sha256, profile=facts.profile,
        second=facts.second,
    )  # fmt: skip


def _dominant_stall(advice: Advice) -> str:
    stalls = {
        name: value
        for kernel in advice.kernels[:1]
        for name, value in kernel.diagnosis.metrics.items()
        if name.startswith("stall_")
    }
    return max(stalls, key=lambda name: (stalls[name], name)) if stalls else ""


def decide(ledger: Ledger, number: int) -> Steps:
    """Plan the change that leaves ``number``, from the best version; writes its notes.

    Returns:
        The Decision. Its plan is empty and ``stop`` set when the run ends here.
    """
    base = ledger.versions[ledger.best]
    yield from advise(ledger, base)
    advice = _advice(base)
    plan, budget, ranked = plan_for(ledger, base, advice)
    stop = None if ledger.remeasure else stop_now(standing(ledger, base, advice, plan))
    if stop is not None or ledger.remeasure:
        plan = msgspec.structs.replace(plan, methods=())
    decision = Decision(
        base=base,
        plan=plan,
        budget=budget,
        stop=stop,
        ranked=ranked,
        remeasure=ledger.remeasure,
    )
    facts = ledger.versions[number]
    folder = f"v{number}"
    kept = stop is not None and number in ledger.planned
    if facts.advice is not None and not kept:
        yield put(f"{folder}/roofline.json", roofline_note(ledger, facts, facts.advice, budget))
    yield MakeAnalysis(version=number, base=facts.base)
    if number == 0:
        work = ledger.counted.work if ledger.counted else None
        yield ledger.save()
        yield MakeFront(described=ledger.described, work=work, baseline=True)
    yield ledger.progress("roofline", number, f"limiter {advice.roofline.limiter}", done=True)
    if not kept:
        evidence = evidence_note(number, advice, plan, stop)
        yield put(f"{folder}/kbs_evidence.md", evidence_text(evidence))
    if stop is None:
        ledger.planned.add(number)
        note = plan_note(number, base, advice, plan, budget)
        yield put(f"{folder}/plan.md", plan_text(note))
        hypothesis = hypothesis_note(number, base, advice, plan, again=ledger.remeasure)
        yield put(f"{folder}/hypothesis.txt", hypothesis_text(hypothesis))
        yield put(f"{folder}/request.json", request_note(ledger, number, decision))
    told = ", ".join(row.method for row in plan.methods) or (stop.reason if stop else "nothing")
    yield ledger.progress("plan", number, told, done=True)
    return decision


def plan_for(
    ledger: Ledger, base: Facts, advice: Advice
) -> tuple[Plan, Budget, tuple[Recommendation, ...]]:
    """The plan from what was measured; from what the source offers only where that is empty.

    Returns:
        Plan, budget, and the ranking that they were made from.
    """
    asked = Planning(
        ranked=advice.ranked,
        excluded={**advice.unwritable, **spent(ledger, base)},
        methods=advice.pages,
        warnings=tuple(w for row in advice.kernels for w in row.anti_strategies),
        bound=advice.roofline.gap,
        slots=ledger.settings.slots,
        cap=ledger.settings.axis_cap,
        noise=ledger.settings.noise,
        counters=ledger.counters,
    )
    plan, budget = make_plan(asked)
    if plan.methods or not advice.offered:
        return plan, budget, advice.ranked
    offers = {row.method for row in advice.offered}
    rest = tuple(row for row in advice.ranked if row.method not in offers)
    ranked = (*rest, *advice.offered)
    offered, shares = make_plan(msgspec.structs.replace(asked, ranked=ranked))
    return (offered, shares, ranked) if offered.methods else (plan, budget, advice.ranked)


def spent(ledger: Ledger, base: Facts) -> dict[str, str]:
    """Methods that were tried on this very source and did not pay; masked versions are silent."""
    reasons: dict[str, str] = {}
    for facts in ledger.versions.values():
        if facts.base == base.number and facts.number not in ledger.masked:
            reasons |= facts.unwritten
    for row in ledger.state.verdicts:
        made = ledger.versions.get(row.version)
        if row.version in ledger.masked or made is None or made.base != base.number:
            continue
        if row.verdict in SPENT_VERDICTS:
            reasons[row.method] = f"tried on v{base.number} in v{row.version}: {row.verdict}"
    return reasons


def standing(ledger: Ledger, base: Facts, advice: Advice, plan: Plan) -> Standing:
    """What the stop rules look at."""
    line = advice.roofline
    return Standing(
        near_peak=line.near_peak,
        near_peak_reason=line.near_peak_reason,
        target_reached=_target(ledger, base, advice),
        attempts=ledger.attempts,
        allowed=ledger.allowed,
        gpu_seconds=ledger.state.gpu_seconds_used,
        gpu_seconds_allowed=ledger.settings.gpu_seconds,
        next_costs=next_costs(ledger, len(plan.methods)),
        asked_to_stop=ledger.finishing,
        asked_why=ledger.taken_back or "the reports were asked for",
        plannable=bool(plan.methods) or base.faster is not None,
        plannable_why=_why_empty(advice, plan),
    )


def _target(ledger: Ledger, base: Facts, advice: Advice) -> str:
    target = ledger.settings.target or ledger.described.target
    if target is None or base.median_ns is None:
        return ""
    work = ledger.counted.work if ledger.counted else None
    reached = target.reached(
        time_ns=base.median_ns,
        bytes_min=work.bytes_min if work else None,
        flops=work.flops if work else None,
        model_ns=advice.roofline.model_ns,
    )
    return f"{target.kind} target of {target.value:.6g} {target.unit} reached" if reached else ""


def _why_empty(advice: Advice, plan: Plan) -> str:
    if plan.skipped:
        return "; ".join(f"{row.method}: {row.reason}" for row in plan.skipped[:5])
    notes = [row.note for row in advice.kernels if row.note]
    return notes[0] if notes else "nothing is recommended and the source offers nothing"
