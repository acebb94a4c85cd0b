"""attribution.json from an ablation: every method in one cell of the verdict table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from kbs_engine.ablation import Attribution, MethodEffect, explain_verdict, verdict
from kbs_engine.loop.ledger import Facts
from kbs_engine.results import Timed, read
from kbs_engine.run.benches import compare_arms
from kbs_engine.run.judged import (
    AblatedVariant,
    AttributedAs,
    AttributionFile,
    MethodAttribution,
    SassCheck,
)
from kbs_engine.run.records import Interaction, Settings, merge_timed
from kbs_engine.timing import Comparison

if TYPE_CHECKING:
    from kbs_engine.loop.variants import Ablated

Opcodes = Literal["confirmed", "refuted", "not_observable"]


def attribution_file(
    settings: Settings,
    facts: Facts,
    found: Attribution | None,
    why_not: Mapping[str, str],
    rows: Sequence[Ablated],
    sass: SassCheck,
    note: str,
) -> AttributionFile:
    """attribution.json of a version; ``found`` is None where nothing could be timed."""
    opcodes: dict[str, Opcodes] = {row.method: row.outcome for row in sass.methods}
    effects = {one.method: one for one in found.effects} if found else {}
    methods = []
    for method in facts.methods:
        effect = effects.get(method) or MethodEffect(
            method=method, effect="not measured", detail=_why(method, why_not, rows)
        )
        methods.append(_cell(effect, opcodes.get(method, "not_observable"), facts))
    total = found.total if found else None
    return AttributionFile(
        version=facts.number,
        source_sha256=facts.source.sha256,
        mode=found.mode if found else settings.attribution,
        noise=settings.noise,
        variants=tuple(_variant(row, facts, settings.noise) for row in rows if row.source),
        methods=tuple(methods),
        total=_gain(total.ratio) if total else None,
        total_low=_gain(total.low) if total else None,
        total_high=_gain(total.high) if total else None,
        interactions=_interactions(found),
        note="; ".join(part for part in (note, *(found.notes if found else ())) if part),
    )


def _why(method: str, why_not: Mapping[str, str], rows: Sequence[Ablated]) -> str:
    if method in why_not:
        return why_not[method]
    faults = [row.fault for row in rows if row.name == f"no_{method}" and row.fault]
    return faults[0] if faults else "no variant without it could be timed"


def _cell(effect: MethodEffect, opcodes: Opcodes, facts: Facts) -> MethodAttribution:
    correct = bool(facts.checked and facts.checked.passed)
    answer = verdict(opcodes, effect, correct=correct)
    words: dict[str, AttributedAs] = {
        "helps": "helps",
        "harms": "harms",
        "within noise": "within noise",
        "inseparable": "within noise",
    }
    interval = effect.gain_interval
    return MethodAttribution(
        method=effect.method,
        attribution=words.get(effect.effect, "not measured"),
        gain=effect.gain,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        p_holm=effect.p_holm,
        opcodes=opcodes,
        verdict=answer,
        because=explain_verdict(answer, effect, opcodes),
    )


def _gain(ratio: float) -> float:
    """Share of time returned, from a speedup."""
    return 1.0 - 1.0 / ratio


def _variant(row: Ablated, facts: Facts, noise: float) -> AblatedVariant:
    found = None
    timed = merge_timed([read(block, Timed) for block in row.blocks])
    if timed is not None and row.source is not None:
        places = {arm.sha256: index for index, arm in enumerate(timed.arms)}
        champion, mine = places.get(facts.source.sha256), places.get(row.source.sha256)
        if champion is not None and mine is not None:
            found = compare_arms(timed, champion, mine, noise)
    return AblatedVariant(
        name=row.name,
        off=tuple(method for method, on in row.on.items() if not on),
        sha256=row.source.sha256 if row.source else "",
        correct=row.correct,
        reason=row.fault or None,
        ratio=found.ratio if found else None,
        low=found.low if found else None,
        high=found.high if found else None,
    )


def _interactions(found: Attribution | None) -> tuple[Interaction, ...]:
    """Pairs alone: what two methods do beyond the sum of each, in log time."""
    rows = []
    for one in found.interactions if found else ():
        if len(one.methods) == 2:  # noqa: PLR2004 - a pair
            factor: Comparison = one.factor
            rows.append(
                Interaction(
                    methods=(one.methods[0], one.methods[1]),
                    value=math.log(factor.ratio),
                    low=math.log(factor.low),
                    high=math.log(factor.high),
                )
            )
    return tuple(rows)
