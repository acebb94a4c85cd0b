"""Why one method stands where it stands, for `recommend --explain METHOD`."""

from __future__ import annotations

from typing import Literal

import msgspec

from kbs_engine.diagnose import Diagnosed
from kbs_engine.methods import Method
from kbs_engine.ports import Knowledge
from kbs_engine.recommend import Options, recommend
from kbs_engine.recommendations import AntiStrategy, Recommendation

Standing = Literal["recommended", "filtered", "not raised"]


class Addressed(msgspec.Struct, frozen=True, kw_only=True):
    """A symptom that the method treats, and whether it is there."""

    symptom: str
    weight: float
    """How much of the symptom's recoverable share the method returns (0-1)."""
    found: Literal["cause", "effect", "absent", "not measurable"]
    recoverable: float | None = None
    """Share of kernel time (0-1); None where the symptom is not there."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of one method for one launch."""

    method: str
    title: str
    standing: Standing
    rank: int | None
    """Place in the list, from 1; None where it is not listed."""
    reason: str
    score: Recommendation | None
    """Every part of the score, also where a near-equivalent speaks for it."""
    addresses: tuple[Addressed, ...]
    anti_strategies: tuple[AntiStrategy, ...] = ()


def explain(item: Diagnosed, knowledge: Knowledge, options: Options, method: Method) -> Explanation:
    """Where ``method`` stands for this launch, and every reason for it."""
    listed = recommend(item, knowledge, options)
    alone = recommend(item, knowledge, msgspec.structs.replace(options, keep_groups=True))
    order = [row.method for row in listed.recommendations]
    row = next((row for row in alone.recommendations if row.method == method.id), None)
    removed = next((row for row in listed.filtered if row.method == method.id), None)
    rank = order.index(method.id) + 1 if method.id in order else None
    addresses = _addresses(item, method)
    if rank is not None:
        standing: Standing = "recommended"
        reason = f"number {rank} of {len(order)}"
    elif removed is not None:
        standing, reason = "filtered", f"{removed.filter}: {removed.reason}"
    else:
        standing, reason = "not raised", _why_not(addresses)
    return Explanation(
        method=method.id,
        title=method.title,
        standing=standing,
        rank=rank,
        reason=reason,
        score=row,
        addresses=addresses,
        anti_strategies=tuple(
            warning for warning in alone.anti_strategies if warning.method == method.id
        ),
    )


def _addresses(item: Diagnosed, method: Method) -> tuple[Addressed, ...]:
    diagnosis = item.diagnosis
    causes = {cause.id: cause.recoverable for cause in diagnosis.causes}
    effects = {cause.id: cause.recoverable for cause in diagnosis.effects}
    unknown = {row.id for row in diagnosis.not_measurable}
    rows = []
    for symptom, weight in sorted(method.addresses.items(), key=lambda pair: (-pair[1], pair[0])):
        if symptom in causes:
            rows.append(_found(symptom, weight, "cause", causes[symptom]))
        elif symptom in effects:
            rows.append(_found(symptom, weight, "effect", effects[symptom]))
        else:
            found = "not measurable" if symptom in unknown else "absent"
            rows.append(_found(symptom, weight, found, None))
    return tuple(rows)


def _found(symptom: str, weight: float, found: str, recoverable: float | None) -> Addressed:
    told = {"symptom": symptom, "weight": weight, "found": found, "recoverable": recoverable}
    return msgspec.convert(told, Addressed)


def _why_not(addresses: tuple[Addressed, ...]) -> str:
    blind = [row.symptom for row in addresses if row.found == "not measurable"]
    if blind:
        return f"no symptom that it treats was found; not measured: {', '.join(blind)}"
    return "no symptom that it treats was found"
