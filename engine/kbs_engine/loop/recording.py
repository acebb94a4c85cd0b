"""What a version leaves behind: outcomes for the experience log, and its memory record."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

import msgspec

from kbs_engine.ablation import left_open
from kbs_engine.loop.ledger import Facts, Ledger
from kbs_engine.loop.stopping import Stop
from kbs_engine.outcomes import Outcome, dims_class
from kbs_engine.run.judged import AttributionFile
from kbs_engine.run.records import (
    Correctness,
    Experience,
    Experiment,
    MemoryRecord,
    MethodVerdict,
    Optimization,
    Performance,
    Pitfall,
    ProfileEvidence,
    QualityGate,
    Search,
)

DIRECTIONS = 3


def outcomes(
    ledger: Ledger, facts: Facts, base: Facts, attributed: AttributionFile
) -> tuple[Outcome, ...]:
    """One outcome per method of a version, with full identity and provenance.

    The id of a measurement is made from run, version and method, so that a resumed run
    appends the same record again, which counts once. A method whose effect the timing was too
    coarse to tell is recorded as inseparable from the noise, which counts neither way.
    """
    advice = base.advice
    scores = {row.method: row for row in (*advice.ranked, *advice.offered)} if advice else {}
    baseline = min(ledger.baselines, key=lambda name: ledger.baselines[name], default="")
    found = []
    for row in attributed.methods:
        rank = scores.get(row.method)
        untold = left_open(row.verdict, row.high, attributed.noise)
        without = facts.median_ns / (1 - row.gain) if row.gain is not None else None  # type: ignore[operator]
        found.append(
            msgspec.convert(
                {
                    **_identity(ledger, base, facts),
                    "method": row.method,
                    "verdict": "inseparable" if untold else row.verdict,
                    "notes": row.because[:500] if untold else "",
                    "correct": bool(facts.checked and facts.checked.passed),
                    "integrity": bool(facts.checked and facts.checked.passed),
                    "gain": row.gain,
                    "gain_low": row.low,
                    "gain_high": row.high,
                    "predicted_gain": rank.predicted_gain if rank else None,
                    "before_ns": without,
                    "after_ns": facts.median_ns,
                    "baseline": baseline,
                    "baseline_ns": ledger.baselines.get(baseline),
                    "tunables": facts.source.tunables,
                    "together_with": tuple(m for m in facts.methods if m != row.method),
                    "measurement": measurement_id(ledger.begin.run_id, facts.number, row.method),
                },
                Outcome,
            )
        )
    return tuple(found)


def failed_outcomes(
    ledger: Ledger, number: int, base: Facts, whys: Mapping[str, str]
) -> tuple[Outcome, ...]:
    """Outcomes of a version none of whose branches was ever right: one per method tried."""
    return tuple(
        msgspec.convert(
            {
                **_identity(ledger, base, None),
                "method": method,
                "verdict": "implementation_failed",
                "correct": False,
                "integrity": True,
                "version": f"v{number}",
                "notes": why[:500],
                "measurement": measurement_id(ledger.begin.run_id, number, method),
            },
            Outcome,
        )
        for method, why in whys.items()
    )


def _identity(ledger: Ledger, base: Facts, facts: Facts | None) -> dict[str, Any]:
    settings, machine = ledger.settings, ledger.machine
    work = ledger.counted.work if ledger.counted else None
    timed = facts.timed if facts else None
    provenance = facts.time.provenance if facts and facts.time else None
    main = base.advice.kernels[0].diagnosis if base.advice and base.advice.kernels else None
    after = (
        facts.advice.kernels[0].diagnosis
        if facts and facts.advice and facts.advice.kernels
        else None
    )
    return {
        "kernel": work.kernel if work else settings.family,
        "language": settings.language,
        "chip": ledger.described.chip or (machine.gpu if machine else ""),
        "arch": ledger.described.arch or (machine.arch if machine else ""),
        "limiter": base.advice.roofline.limiter if base.advice else "unknown",
        "dtype": work.dtype if work else settings.dtype,
        "dims": settings.dims,
        "dims_class": dims_class(settings.dims),
        "floor_ns": timed.arms[0].floor_ns if timed else None,
        "flops": work.flops if work else None,
        "bytes_in": work.bytes_in if work else None,
        "bytes_out": work.bytes_out if work else None,
        "permitted": settings.permitted,
        "metrics_before": main.metrics if main else {},
        "metrics_after": after.metrics if after else {},
        "run": ledger.begin.run_id,
        "version": f"v{facts.number}" if facts else "",
        "source_hash": base.source.sha256,
        "device": machine.device if machine else "",
        "driver": machine.driver if machine else "",
        "versions": provenance.versions if provenance else {},
        "machine": machine.gpu_uuid or machine.gpu if machine else "",
        "date": (provenance.date if provenance and provenance.date else ledger.begin.created_at)[
            :10
        ],
    }


def measurement_id(run: str, number: int, method: str) -> str:
    """UUID of one measurement, the same whenever the run is replayed."""
    digest = hashlib.sha256(f"{run}:v{number}:{method}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def verdicts_of(number: int, attributed: AttributionFile) -> tuple[MethodVerdict, ...]:
    """The verdicts of a version as the state holds them."""
    return tuple(
        MethodVerdict(
            version=number,
            method=row.method,
            verdict=row.verdict,
            gain=row.gain,
            gain_low=row.low,
            gain_high=row.high,
        )
        for row in attributed.methods
    )


def memory_record(
    ledger: Ledger,
    facts: Facts,
    attributed: AttributionFile | None,
    compared: str,
    *,
    stop: Stop | None = None,
    pitfalls: tuple[Pitfall, ...] = (),
) -> MemoryRecord:
    """memory/vN.json of a measured version."""
    work = ledger.counted.work if ledger.counted else None
    advice, time = facts.advice, facts.median_ns
    rounds = facts.checked.rounds if facts.checked else ()
    errors = [row.max_rel_err for row in rounds if row.max_rel_err is not None]
    return MemoryRecord(
        version=facts.number,
        timestamp=facts.time.provenance.date if facts.time else "",
        performance=Performance(
            latency_us=time / 1e3 if time else None,
            tflops=work.flops / time / 1e3 if work and work.flops and time else None,
            bandwidth_gbps=work.bytes_min / time if work and work.bytes_min and time else None,
            comparison_with_previous=compared,
        ),
        optimization=Optimization(
            action_category=", ".join(facts.methods) or "baseline",
            action_description=_what(ledger, facts),
        ),
        profile_evidence=ProfileEvidence(
            tool_used="ncu" if ledger.counters else "timing, work and opcodes (counter-free)",
            evidence_summary=advice.evidence.facts[0] if advice and advice.evidence.facts else "",
            bottleneck_type=advice.roofline.limiter if advice else "",
            evidence_chain=tuple(c.message for k in advice.kernels for c in k.diagnosis.causes)
            if advice
            else (),
        ),
        experience=Experience(experiments=_experiments(attributed)),
        correctness=Correctness(
            rel_err=max(errors) if errors else None,
            status="PASS" if facts.checked and facts.checked.passed else "FAIL",
        ),
        search_log=tuple(
            Search(source="knowledge base", query=query.text, finding=query.answer)
            for query in (advice.evidence.queries if advice else ())
        ),
        pitfalls_and_fixes=pitfalls,
        references=tuple(row.citation for row in advice.evidence.selected) if advice else (),
        quality_gate=QualityGate(),
        open_directions=_open(facts, stop),
    )


def _what(ledger: Ledger, facts: Facts) -> str:
    if facts.number == 0:
        return "the baseline, measured like any other version"
    entry = ledger.state.version(facts.number)
    again = ledger.state.measured_again(entry) if entry else None
    if again is not None:
        return f"v{again} measured again in epoch {ledger.state.epoch}"
    tuned = ", ".join(f"{name}={value}" for name, value in sorted(facts.source.tunables.items()))
    begun = f" by template {facts.template}" if facts.template else ""
    return f"{', '.join(facts.methods) or 'tunables'}{begun} on v{facts.base}" + (
        f" with {tuned}" if tuned else ""
    )


def _experiments(attributed: AttributionFile | None) -> tuple[Experiment, ...]:
    if attributed is None:
        return ()
    return tuple(
        Experiment(
            method=row.method,
            result=row.attribution,
            verdict=row.verdict,
            gain=row.gain,
            gain_low=row.low,
            gain_high=row.high,
            lesson=row.because,
        )
        for row in attributed.methods
    )


def _open(facts: Facts, stop: Stop | None) -> tuple[str, ...]:
    """The best ranked methods that nobody tried yet; none at a roof."""
    if facts.advice is None or (stop is not None and stop.reason == "near_peak"):
        return ()
    rows = [row for row in facts.advice.ranked if row.method not in facts.applied]
    return tuple(f"{row.method} (score {row.score:.3f})" for row in rows[:DIRECTIONS])
