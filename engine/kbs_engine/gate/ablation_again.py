"""The attribution of a version computed once more from the samples of its ablations."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from kbs_engine.ablation import (
    Attribution,
    MethodEffect,
    attribute,
    explain_verdict,
    pick_arms,
    places_of,
    verdict,
)
from kbs_engine.errors import KbsError
from kbs_engine.results import Timed, read
from kbs_engine.run.judged import AblatedVariant, AttributionFile, MethodAttribution
from kbs_engine.run.measured import Bench

_CLOSE = 1e-6


def attributions_again(
    stated: AttributionFile,
    benches: Mapping[str, Bench],
    noise: float,
    *,
    rivals: Collection[str] = (),
) -> tuple[Attribution, ...]:
    """What each timing in which variants took turns with the champion gives, in its order.

    Leave-one-out and the factorial behind it are timed apart; a later one replaces the earlier.
    The first may be the timing that proved the champion: then ``rivals``, sources of other
    versions by their hashes, have arms in it too.
    """
    blocks: dict[str, Timed] = {}
    held: dict[str, list[AblatedVariant]] = {}
    for variant in stated.variants:
        bench = benches.get(variant.name)
        for result in bench.blocks if bench else ():
            if result.value is not None:
                if result.job_key not in blocks:
                    blocks[result.job_key] = read(result, Timed)
                rows = held.setdefault(result.job_key, [])
                rows += [] if variant in rows else [variant]
    found = (_again(stated, timed, held[key], noise, rivals) for key, timed in blocks.items())
    return tuple(one for one in found if one is not None)


def _again(
    stated: AttributionFile,
    timed: Timed,
    rows: Sequence[AblatedVariant],
    noise: float,
    rivals: Collection[str],
) -> Attribution | None:
    """One timing, which the benches of ``rows`` hold.

    None where an arm of it is neither the champion nor one of them nor a rival, or where it is
    a variant that is called right and whose bench leaves the timing out.
    """
    if not timed.arms or timed.arms[0].sha256 != stated.source_sha256:
        return None
    places = places_of(timed, [row.sha256 for row in rows])
    if places is None:
        return None
    variants_of = {row.sha256 for row in stated.variants if row.correct}
    for place, arm in enumerate(timed.arms):
        if place and place not in places and arm.sha256 not in set(rivals) - variants_of:
            return None
    off = {name for row in rows for name in row.off}
    names = [row.method for row in stated.methods if row.method in off]
    names += sorted(off.difference(names))
    variants = [dict.fromkeys(names, True)]
    variants += [{name: name not in row.off for name in names} for row in rows]
    try:
        return attribute(pick_arms(timed, places), variants, noise=noise)
    except KbsError:
        return None  # the champion itself was refused: this timing attributes nothing


def differences(
    stated: AttributionFile, again: Sequence[Attribution], *, correct: bool
) -> Iterator[str]:
    """What the file states and its samples do not give, in words."""
    fitting = [one for one in again if one.mode == stated.mode]
    if not fitting:
        if any(row.gain is not None for row in stated.methods) or stated.total is not None:
            yield f"no timing in ablations/ gives a {stated.mode} attribution"
        return
    found = fitting[-1]
    effects = {effect.method: effect for effect in found.effects}
    for row in stated.methods:
        effect = effects.get(row.method)
        if effect is not None and effect.speedup is not None:
            yield from _method(row, effect, correct=correct)
        elif row.gain is not None or row.p_holm is not None:
            yield f"the effect of {row.method} was never measured"
    yield from _totals(stated, found)
    yield from _interactions(stated, found)


def _method(row: MethodAttribution, effect: MethodEffect, *, correct: bool) -> Iterator[str]:
    low, high = effect.gain_interval or (None, None)
    pairs = (
        ("gain", row.gain, effect.gain),
        ("low", row.low, low),
        ("high", row.high, high),
        ("p_holm", row.p_holm, effect.p_holm),
    )
    yield from _numbers(f" of {row.method}", pairs)
    answer = verdict(row.opcodes, effect, correct=correct)
    if row.verdict != answer:
        why = explain_verdict(answer, effect, row.opcodes)
        yield f"{row.method} is called {row.verdict}; its samples make it {answer} ({why})"


def _totals(stated: AttributionFile, found: Attribution) -> Iterator[str]:
    total = found.total
    ratios = (total.ratio, total.low, total.high) if total else (None, None, None)
    gains = [None if ratio is None else 1.0 - 1.0 / ratio for ratio in ratios]
    names = ("total", "total_low", "total_high")
    rows = [(name, getattr(stated, name), value) for name, value in zip(names, gains, strict=True)]
    yield from _numbers("", rows)


def _interactions(stated: AttributionFile, found: Attribution) -> Iterator[str]:
    pairs = {frozenset(one.methods): one.factor for one in found.interactions
             if len(one.methods) == 2}  # fmt: skip  # noqa: PLR2004 - pairs alone are stated
    told = {frozenset(row.methods): row for row in stated.interactions}
    for methods in sorted(pairs.keys() | told.keys(), key=sorted):
        name = "+".join(sorted(methods))
        if methods not in pairs or methods not in told:
            where = "states no" if methods in pairs else "states an"
            yield f"{where} interaction of {name}, unlike its samples"
            continue
        factor, row = pairs[methods], told[methods]
        rows = (
            ("value", row.value, math.log(factor.ratio)),
            ("low", row.low, math.log(factor.low)),
            ("high", row.high, math.log(factor.high)),
        )
        yield from _numbers(f" of the interaction {name}", rows)


def _numbers(what: str, rows: Sequence[tuple[str, float | None, float | None]]) -> Iterator[str]:
    for name, one, two in rows:
        if not _same(one, two):
            yield f"{name}{what} is stated as {_told(one)}; its samples give {_told(two)}"


def _same(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return math.isclose(one, two, rel_tol=_CLOSE, abs_tol=1e-12)


def _told(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.6g}"
