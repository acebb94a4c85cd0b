"""The stable JSON shapes of docs/cli.md, from records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kbs_engine.facts import Chip, Spec
from kbs_engine.recommendations import KernelAdvice, KernelDiagnosis
from kbs_engine.symptoms import Cause

if TYPE_CHECKING:
    from kbs_ingest.store.searching import Hit


def cause_shape(cause: Cause) -> dict[str, Any]:
    """One cause or effect."""
    return {
        "id": cause.id,
        "axis": cause.axis,
        "title": cause.title,
        "severity": round(cause.severity, 4),
        "recoverable": round(cause.recoverable, 4),
        "message": cause.message,
        "explains": list(cause.explains),
        "explained_by": list(cause.explained_by),
        "evidence": [msgspec.to_builtins(item) for item in cause.evidence],
        "citation": str(cause.citation),
    }


def diagnosis_shape(item: KernelDiagnosis) -> dict[str, Any]:
    """One kernel of `diagnose`."""
    return {
        "name": item.name,
        "launch": item.launch,
        "time_ns": item.time_ns,
        "time_share": item.time_share,
        "chip": item.chip,
        "limiter": item.limiter,
        "algorithm_bound": item.algorithm_bound,
        "near_peak": item.near_peak,
        "metrics": item.metrics,
        "causes": [cause_shape(cause) for cause in item.causes],
        "effects": [cause_shape(cause) for cause in item.effects],
        "not_measurable": [
            {"id": row.id, "needs": list(row.needs), "sections": list(row.sections)}
            for row in item.not_measurable
        ],
        "vendor_rules": [msgspec.to_builtins(rule) for rule in item.vendor_rules],
        "roofline": msgspec.to_builtins(item.roofline),
        "flags": list(item.flags),
    }


def advice_shape(advice: KernelAdvice) -> dict[str, Any]:
    """One kernel of `recommend`."""
    shape = diagnosis_shape(advice.diagnosis)
    shape["recommendations"] = [msgspec.to_builtins(row) for row in advice.recommendations]
    shape["anti_strategies"] = [msgspec.to_builtins(row) for row in advice.anti_strategies]
    shape["filtered"] = [msgspec.to_builtins(row) for row in advice.filtered]
    shape["note"] = advice.note
    return shape


def spec_shape(chip: Chip, spec: Spec) -> dict[str, Any]:
    """One row of `specs`; value null is UNKNOWN."""
    return {
        "metric": spec.metric,
        "words": spec.words,
        "value": spec.value,
        "unit": spec.unit,
        "basis": str(spec.basis),
        "citation": spec.cite(chip.name),
        "source": spec.source,
        "grade": spec.grade,
        "measured": spec.measured,
    }


def hit_shape(hit: Hit) -> dict[str, Any]:
    """One result of `query`."""
    chunk = hit.chunk
    return {
        "kind": chunk.kind,
        "title": chunk.title,
        "heading": list(chunk.heading),
        "path": chunk.path,
        "line": chunk.line,
        "citation": f"gpu-wiki/{chunk.path}:L{chunk.line}",
        "score": hit.score,
        "text": chunk.text,
        "axis": chunk.axis or None,
        "languages": list(chunk.languages),
        "archs": list(chunk.archs),
    }
