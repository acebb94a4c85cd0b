"""Ranking of methods: score = chance × min(Δ, 1 − Π(1 − wᵢ·rᵢ)) × fit (architecture.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

import msgspec

from kbs_engine.causes import together
from kbs_engine.chance import Chance, Context, posterior
from kbs_engine.diagnose import Diagnosed
from kbs_engine.filters import Setting, filter_method, loose_fit
from kbs_engine.hints import Hint
from kbs_engine.methods import Method
from kbs_engine.ports import Knowledge
from kbs_engine.recommendations import (
    AntiStrategy,
    Filtered,
    KernelAdvice,
    KernelDiagnosis,
    Recommendation,
)
from kbs_engine.symptoms import Cause
from kbs_engine.vendor_match import rules_behind

BAR: Final = 0.01
"""Scores under this are not worth a try; they are listed as filtered."""

EFFECT_WEIGHT: Final = 0.35
"""A method that treats only an effect returns this share of what it claims for it."""

STATUS_FIT: Final[dict[str, float]] = {"cited": 0.85, "compiled": 0.95, "exercised": 1.0}
PRIORITY_STEP: Final = 0.03
ANTI_STRATEGY_FIT: Final = 0.3
"""A method that an anti-strategy warns of keeps this share of its score."""

WARN_FROM: Final = 0.03
"""A method whose score without the warning is under this tempts nobody."""

RETRIEVAL_SPAN: Final = 0.2
"""Retrieval moves a score by at most this share: it breaks ties, it does not decide."""

TOLD_FIT: Final = 0.5
"""Power of each part of the fit where words are most of what is known: what is not said is
unknown, which is no reason against a method that the words ask for."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says about the kernel and about the ranking."""

    as_of: date
    language: str | None = None
    applied: frozenset[str] = frozenset()
    source_hash: str | None = None
    keep_groups: bool = False
    """List every near-equivalent instead of letting one speak for its group."""
    hints: Mapping[str, Hint] = {}
    """What search says for methods, where words are most of what is known."""


def recommend(item: Diagnosed, knowledge: Knowledge, options: Options) -> KernelAdvice:
    """Rank all methods for one diagnosed launch, with every part of the score."""
    diagnosis = item.diagnosis
    setting = _setting(item, knowledge, options)
    context = Context(
        family=setting.family,
        language=setting.language,
        arch=setting.arch,
        limiter=diagnosis.limiter,
        source_hash=options.source_hash,
    )
    evidence = knowledge.evidence(context, options.as_of)
    tried = knowledge.tried_on(options.source_hash) if options.source_hash else ()
    ranked: list[Recommendation] = []
    filtered: list[Filtered] = []
    present = _present(diagnosis)
    candidates = [
        method
        for method in knowledge.methods()
        if present.keys() & method.addresses.keys() or method.id in options.hints
    ]
    similar = knowledge.similarity(list(present), [method.id for method in candidates])
    warned = _anti_strategies(item, knowledge, candidates)
    avoid = {warning.method for warning in warned}
    for method in candidates:
        mine = [row for row in tried if row.method == method.id]
        removed = filter_method(method, setting, mine)
        if removed is not None:
            filtered.append(removed)
            continue
        chance = posterior(evidence.get(method.id, {}))
        fit = _fit_parts(method, similar.get(method.id, 0.0), setting)
        if options.hints:
            fit = {name: value**TOLD_FIT for name, value in fit.items()}
        if method.id in avoid:
            fit["anti-strategy"] = ANTI_STRATEGY_FIT
        ranked.append(_score(method, item, chance, fit, options.hints.get(method.id)))
    ranked.sort(key=lambda row: (-row.score, row.method))
    kept, dropped = _above_bar(ranked)
    if not options.keep_groups:
        kept, near = _speak_for_groups(kept, knowledge.groups())
        dropped = [*near, *dropped]
    return KernelAdvice(
        diagnosis=diagnosis,
        recommendations=tuple(kept),
        anti_strategies=_worth_a_warning(warned, ranked),
        filtered=(*filtered, *dropped),
        note=_note(diagnosis, kept, filtered),
    )


def _present(diagnosis: KernelDiagnosis) -> dict[str, tuple[Cause, float]]:
    """Symptoms that are there, each with the weight of curing it: effects count for less."""
    found = {cause.id: (cause, EFFECT_WEIGHT) for cause in diagnosis.effects}
    found.update({cause.id: (cause, 1.0) for cause in diagnosis.causes})
    return found


def _setting(item: Diagnosed, knowledge: Knowledge, options: Options) -> Setting:
    arch = item.chip.arch if item.chip else None
    return Setting(
        arch=arch,
        features=knowledge.features(arch) if arch else None,
        language=options.language or item.diagnosis.language,
        family=None if item.diagnosis.family in (None, "other") else item.diagnosis.family,
        work=item.work,
        applied=options.applied,
        source_hash=options.source_hash,
        told=bool(options.hints),
    )


def gain_bound(diagnosis: KernelDiagnosis) -> float:
    """Most of the kernel time that anything could return.

    Δ where the work is known. Where it is not, nothing bounds a cure that lowers the load of
    the busy unit itself, so the bound is what the worst root cause could return, and at least
    the idle share of the limiter.
    """
    line = diagnosis.roofline
    if line.gap is not None:
        return line.gap
    idle = 1.0 if line.limiter_share is None else 1 - line.limiter_share
    worst = max((cause.recoverable for cause in diagnosis.causes), default=0.0)
    return max(idle, worst)


def _score(
    method: Method,
    item: Diagnosed,
    chance: Chance,
    parts: dict[str, float],
    hint: Hint | None,
) -> Recommendation:
    diagnosis = item.diagnosis
    present = _present(diagnosis)
    hits = [name for name in method.addresses if name in present]
    shares = {
        name: method.addresses[name] * present[name][0].recoverable * present[name][1]
        for name in hits
    }
    hits.sort(key=lambda name: (-shares[name], name))
    told = hint.share if hint else 0.0
    gain = min(gain_bound(diagnosis), together([*shares.values(), told]))
    fit = math.prod(parts.values())
    return Recommendation(
        method=method.id,
        title=method.title,
        axis=method.axis,
        score=chance.mean * gain * fit,
        gain=gain,
        chance=chance.mean,
        fit=fit,
        fit_parts=parts,
        predicted_gain=(gain * chance.low * fit, gain * max(chance.high, chance.mean)),
        addresses=tuple(hits),
        triggers=tuple(present[name][0].message for name in hits),
        hint=hint,
        outcomes=chance.counts,
        status=method.status,
        citations=_citations(method, item, hits),
        vendor_rules=rules_behind(diagnosis, hits),
    )


def _fit_parts(method: Method, similarity: float, setting: Setting) -> dict[str, float]:
    parts = loose_fit(method, setting) | {
        "status": STATUS_FIT[method.status],
        "priority": 1 - PRIORITY_STEP * (method.priority - 1),
        "retrieval": 1 - RETRIEVAL_SPAN * (1 - similarity),
    }
    if setting.features is None and method.requires:
        parts["architecture unknown"] = 0.7
    if setting.language is None:
        parts["language unknown"] = 0.95
    if method.kernels and setting.family is None:
        parts["kernel family unknown"] = 0.7
    if method.needs_permitted and setting.work is None:
        parts["permitted precision unknown"] = 0.6
    return parts


def _citations(method: Method, item: Diagnosed, hits: Sequence[str]) -> tuple[str, ...]:
    present = _present(item.diagnosis)
    pages = [f"{method.id} <- {method.citation}"]
    pages += [f"{name} <- {present[name][0].citation}" for name in hits]
    roofs = [roof for roof in item.diagnosis.roofline.roofs if roof.basis != "placeholder"]
    return (*pages, *(roof.citation for roof in roofs))


def _above_bar(
    ranked: Sequence[Recommendation],
) -> tuple[list[Recommendation], list[Filtered]]:
    kept = [row for row in ranked if row.score >= BAR]
    dropped = [
        Filtered(method=row.method, filter="score", reason=f"score {row.score:.3f} under {BAR}")
        for row in ranked
        if row.score < BAR
    ]
    return kept, dropped


def _speak_for_groups(
    ranked: Sequence[Recommendation], groups: Sequence[frozenset[str]]
) -> tuple[list[Recommendation], list[Filtered]]:
    """Keep the best of each group of near-equivalents; it names the others."""
    speaker: dict[frozenset[str], str] = {}
    others: dict[str, list[str]] = {}
    near: list[Filtered] = []
    kept: list[Recommendation] = []
    for row in ranked:
        mine = [group for group in groups if row.method in group]
        first = next((speaker[group] for group in mine if group in speaker), None)
        if first is not None:
            others.setdefault(first, []).append(row.method)
            near.append(
                Filtered(
                    method=row.method, filter="near_equivalent", reason=f"{first} speaks for it"
                )
            )
            continue
        for group in mine:
            speaker[group] = row.method
        kept.append(row)
    named = [msgspec.structs.replace(row, group=tuple(others.get(row.method, ()))) for row in kept]
    return named, near


def _anti_strategies(
    item: Diagnosed, knowledge: Knowledge, candidates: Sequence[Method]
) -> list[AntiStrategy]:
    """Warnings about methods that the symptoms would suggest."""
    if not any(method.avoid_when for method in candidates):
        return []
    holds = knowledge.avoid([item.rows])[0]
    return [
        AntiStrategy(
            method=method.id, id=rule.id, because=rule.because, citation=str(method.citation)
        )
        for method in candidates
        for rule in method.avoid_when
        if rule.id in holds
    ]


def _worth_a_warning(
    warned: Sequence[AntiStrategy], ranked: Sequence[Recommendation]
) -> tuple[AntiStrategy, ...]:
    """Warnings about methods that would stand in the list were it not for the warning."""
    tempting = {row.method for row in ranked if row.score >= WARN_FROM * ANTI_STRATEGY_FIT}
    return tuple(warning for warning in warned if warning.method in tempting)


def _note(
    diagnosis: KernelDiagnosis, kept: Sequence[Recommendation], filtered: Sequence[Filtered]
) -> str:
    if diagnosis.near_peak:
        return f"near peak: {diagnosis.roofline.near_peak_reason}; what is left is small"
    if kept:
        return ""
    if not diagnosis.causes:
        return "no symptom fired: nothing here names a cure"
    counts: Mapping[str, int] = {}
    for row in filtered:
        counts = {**counts, row.filter: counts.get(row.filter, 0) + 1}
    told = ", ".join(f"{name} removed {count}" for name, count in sorted(counts.items()))
    return f"no method is left: {told or 'every score is under the bar'}"
