"""The files of a measured version: kernel, bench.json, correctness.md, methods.json, report."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from kbs_engine.loop.actions import PutBlob
from kbs_engine.loop.decision import Decision
from kbs_engine.loop.ledger import Facts, Ledger, Steps, put
from kbs_engine.plans import Skipped
from kbs_engine.reports import correctness
from kbs_engine.results import Profiled
from kbs_engine.run.benches import build_bench, claims_judged
from kbs_engine.run.judged import MethodsFile, Ranked, VersionMethod
from kbs_engine.run.records import Bench

LEFT_OUT: Final = "planned, but the champion does not contain it"


def methods_file(
    ledger: Ledger,
    number: int,
    decision: Decision,
    facts: Facts | None,
    claimed: Collection[str] = (),
) -> MethodsFile:
    """methods.json: what the version holds, what was skipped, and the ranking it came from.

    A failed version has no ``facts``: it holds what its branches ``claimed`` to.
    """
    base, plan = decision.base, decision.plan
    ranked = decision.ranked
    places = {row.method: (index, row) for index, row in enumerate(ranked, start=1)}
    inside = claimed if facts is None else facts.methods
    held = [row for row in plan.methods if row.method in inside]
    why = "planned, but no branch claimed it" if facts is None else LEFT_OUT
    switches = facts.source.switches if facts else {}
    begun = f"Start from template {facts.template}" if facts and facts.template else ""
    return MethodsFile(
        version=number,
        base_version=base.number,
        slots=plan.slots,
        axis_slots=msgspec.convert(plan.axis_slots, dict),
        methods=tuple(
            VersionMethod(
                method=row.method,
                axis=row.axis,
                rank=places[row.method][0],
                trigger_strength=places[row.method][1].gain,
                description=begun or row.change,
                expected=row.expected,
                switch=row.method if row.method in switches else "",
            )
            for row in held
        ),
        skipped=(
            *plan.skipped,
            *(Skipped(method=row.method, reason=why) for row in plan.methods if row not in held),
        ),
        ranking=tuple(Ranked(method=row.method, axis=row.axis, score=row.score) for row in ranked),
        inherited=base.applied,
        proposer=ledger.settings.proposer,
    )


def champion_bench(ledger: Ledger, facts: Facts) -> Bench:
    """bench.json of a version, computed from its raw answers."""
    bench = build_bench(
        version=facts.number,
        name="champion",
        source_sha256=facts.source.sha256,
        checks=[facts.check] if facts.check else [],
        blocks=[facts.time] if facts.time else [],
        sanitized=[facts.sanitized] if facts.sanitized else [],
        settings=ledger.settings.timing,
        noise=ledger.settings.noise,
        tunables=facts.source.tunables,
        switches=facts.source.switches,
    )
    zero = ledger.begin.baseline.sha256
    return claims_judged(bench, ledger.settings.noise, zero_sha256=zero)


def write_measured(ledger: Ledger, facts: Facts) -> Steps:
    """Kernel, bench.json and correctness.md."""
    folder = f"v{facts.number}"
    yield PutBlob(path=f"{folder}/{ledger.settings.kernel_file}", sha256=facts.source.sha256)
    bench = champion_bench(ledger, facts)
    yield put(f"{folder}/bench.json", bench)
    if facts.checked is not None:
        text = correctness(bench, ledger.settings.kernel_file)
        yield put(f"{folder}/correctness.md", text)


def write_profile(facts: Facts) -> Steps:
    """The profiler's report, where one was made."""
    if facts.profiled is not None:
        yield from write_report(facts, "profile", facts.profiled)


def write_report(facts: Facts, name: str, found: Profiled) -> Steps:
    """The report of one pass under ``name``, with the suffix by which readers know it."""
    if not found.report_sha256:
        return
    suffix = found.report_name[found.report_name.find(".") :] if found.report_name else ".ncu-rep"
    yield PutBlob(path=f"v{facts.number}/{name}{suffix}", sha256=found.report_sha256)
