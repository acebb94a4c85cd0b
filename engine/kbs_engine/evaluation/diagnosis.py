"""Scores of diagnoses: top-1 and top-3 causes, axes, and alarms on healthy kernels."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kbs_engine.evaluation.baselines import largest_gap, thresholds
from kbs_engine.evaluation.claims import ALARM, Claim, Labelled, Truth
from kbs_engine.evaluation.vendor import vendor_any_claims, vendor_claims
from kbs_engine.recommendations import KernelDiagnosis

PREDICTORS = ("ours", "vendor", "vendor_any", "thresholds", "gap")
TOP = 3


class Hits(msgspec.Struct, frozen=True, kw_only=True):
    """What one predictor got right about one faulty kernel; None where nothing is asked."""

    hit1: bool | None
    hit3: bool | None
    axis_hit: bool | None
    alarm: bool | None
    """Whether it claims a fault of a healthy kernel."""


class DiagnosisScore(msgspec.Struct, frozen=True, kw_only=True):
    """Shares over the faulty kernels (None without any), and a count over the healthy ones."""

    top1: float | None
    top3: float | None
    axis: float | None
    false_alarms: int


def our_claims(diagnosis: KernelDiagnosis) -> tuple[Claim, ...]:
    """Root causes in their order; findings (axis none) are no claim of a fault."""
    return tuple(
        Claim(says=cause.id, ids=(cause.id,), axes=(cause.axis,), severity=cause.severity)
        for cause in diagnosis.causes
        if cause.axis != "none"
    )


def label(
    diagnosis: KernelDiagnosis, truth: Truth, *, kernel: str = "", report: str = ""
) -> Labelled:
    """A diagnosed launch with what every predictor claims of it, from the same profile."""
    rules = diagnosis.vendor_rules
    return Labelled(
        kernel=kernel or diagnosis.name,
        launch=diagnosis.launch,
        report=report,
        truth=truth,
        claims={
            "ours": our_claims(diagnosis),
            "vendor": vendor_claims(rules),
            "vendor_any": vendor_any_claims(rules),
            "thresholds": thresholds(diagnosis.metrics),
            "gap": largest_gap(diagnosis.metrics),
        },
    )


def hits(truth: Truth, claims: Sequence[Claim]) -> Hits:
    """Compare ranked claims with the label of one kernel."""
    if truth.healthy:
        alarm = any(claim.severity > ALARM for claim in claims)
        return Hits(hit1=None, hit3=None, axis_hit=None, alarm=alarm)
    accepted = set(truth.cause)
    right = [bool(accepted & set(claim.ids)) for claim in claims[:TOP]]
    return Hits(
        hit1=any(right[:1]),
        hit3=any(right),
        axis_hit=bool(claims) and bool(set(truth.axis) & set(claims[0].axes)),
        alarm=None,
    )


def score(cases: Sequence[Labelled], predictor: str) -> DiagnosisScore:
    """The figures of one predictor over all labelled kernels."""
    found = [hits(case.truth, case.claims[predictor]) for case in cases]
    return DiagnosisScore(
        top1=_share([row.hit1 for row in found]),
        top3=_share([row.hit3 for row in found]),
        axis=_share([row.axis_hit for row in found]),
        false_alarms=sum(row.alarm is True for row in found),
    )


def _share(values: Sequence[bool | None]) -> float | None:
    asked = [value for value in values if value is not None]
    return sum(asked) / len(asked) if asked else None
