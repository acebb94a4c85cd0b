"""From times of variants to effects of methods: leave-one-out, and the factorial behind it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kbs_engine.ablation.contrasts import Switched, Variants
from kbs_engine.ablation.planning import MOST_IN_FACTORIAL
from kbs_engine.ablation.records import Attribution, Effect, Interaction, MethodEffect
from kbs_engine.ablation.significance import ALPHA, holm, p_beyond_noise
from kbs_engine.results import Timed
from kbs_engine.timing.blocks import arm_of
from kbs_engine.timing.comparison import NOISE, Comparison


def attribute(
    timed: Timed,
    variants: Sequence[Mapping[str, bool]],
    *,
    noise: float = NOISE,
    process_noise: float | None = None,
) -> Attribution:
    """Effects of the methods from one interleaved timing of ``variants`` (``plan_variants``).

    The mode follows from the variants: all combinations of some methods make a factorial.
    A refused arm is a variant without a time; its methods come out as not measured.

    Raises:
        InputError: Variants and arms do not match.
        MeasurementError: The champion itself (everything on) was refused.
    """
    table = Variants(timed, variants, noise=noise, process_noise=process_noise)
    arm_of(timed, next(i for i, switches in enumerate(variants) if all(switches.values())))
    switched = tuple(m for m in table.methods if any(not v[m] for v in variants))
    factorial = len(switched) > 1 and len(variants) == 2 ** len(switched)
    singles = _singles(table, switched)
    if factorial:
        return _factorial(table, switched, singles)
    return _leave_one_out(table, switched, singles)


def _singles(table: Variants, methods: Sequence[str]) -> tuple[MethodEffect, ...]:
    """Effect of switching each method off alone, with Holm's correction over them."""
    measured = {
        m: table.speedup(table.full, table.full - {m})
        for m in methods
        if table.has(table.full - {m})
    }
    raw = {m: p_beyond_noise(found) for m, found in measured.items()}
    adjusted = holm(raw)
    return tuple(
        MethodEffect(
            method=m, effect=_effect(measured[m], adjusted[m]), speedup=measured[m],
            p_value=raw[m], p_holm=adjusted[m],
        )
        if m in measured
        else MethodEffect(
            method=m, effect="not measured",
            detail=f"without it: {table.refusal(table.full - {m})}",
        )
        for m in methods
    )  # fmt: skip


def _effect(found: Comparison, p_holm: float) -> Effect:
    if p_holm > ALPHA or found.verdict == "within noise":
        return "within noise"
    return "helps" if found.verdict == "faster" else "harms"


def _leave_one_out(
    table: Variants, methods: Sequence[str], singles: tuple[MethodEffect, ...]
) -> Attribution:
    plain = table.full - set(methods)
    if len(methods) == 1:
        return Attribution(mode="loo", effects=singles, total=singles[0].speedup)
    total = table.speedup(table.full, plain) if table.has(plain) else None
    unexplained = _unexplained(table, methods, plain)
    adds_up = unexplained is not None and p_beyond_noise(unexplained) > ALPHA
    if adds_up:
        return Attribution(mode="loo", effects=singles, total=total, unexplained=unexplained)
    why = (
        "single effects do not add up to the total"
        if unexplained is not None
        else "a variant has no time, so it is not known whether the single effects add up"
    )
    effects = tuple(
        msgspec.structs.replace(one, effect="inseparable", detail=why)
        if one.effect == "within noise"
        else one
        for one in singles
    )
    return Attribution(
        mode="loo", effects=effects, total=total, unexplained=unexplained,
        needs_factorial=unexplained is not None, notes=(f"{why}: a factorial is needed",),
    )  # fmt: skip


def _unexplained(table: Variants, methods: Sequence[str], plain: Switched) -> Comparison | None:
    """Total over the product of single speedups; None where a variant has no time."""
    without = [table.full - {m} for m in methods]
    if not table.has(plain, *without):
        return None
    weights: dict[Switched, float] = {plain: 1.0, table.full: float(len(methods) - 1)}
    for on in without:
        weights[on] = weights.get(on, 0.0) - 1.0
    return table.contrast(weights)


def _factorial(
    table: Variants, methods: Sequence[str], singles: tuple[MethodEffect, ...]
) -> Attribution:
    fixed = table.full - set(methods)
    cells = [fixed | set(some) for some in _subsets(methods)]
    missing = [on for on in cells if not table.has(on)]
    if missing:
        reduced = _leave_one_out(table, methods, singles)
        names = ", ".join("+".join(sorted(on - fixed)) or "none" for on in missing)
        note = f"the factorial is incomplete: no time with only {names} on"
        return msgspec.structs.replace(
            reduced, mode="factorial", needs_factorial=False, notes=(*reduced.notes, note)
        )
    interactions = _interactions(table, methods, fixed)
    found = {
        one.method: _in_every_context(table, methods, fixed, one, interactions) for one in singles
    }
    return Attribution(
        mode="factorial",
        effects=tuple(found.values()),
        total=table.speedup(table.full, fixed),
        unexplained=_unexplained(table, methods, fixed),
        interactions=interactions,
    )


def _subsets(methods: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(len(methods) + 1):
        yield from itertools.combinations(methods, size)


def _interactions(
    table: Variants, methods: Sequence[str], fixed: Switched
) -> tuple[Interaction, ...]:
    """Moebius terms of the log speedup: Σ over subsets T of S of (-1)^(|S|-|T|) v(T)."""
    groups = [some for some in _subsets(methods) if len(some) > 1]
    factors: dict[tuple[str, ...], Comparison] = {}
    for group in groups:
        weights: dict[Switched, float] = {}
        for some in _subsets(group):
            weights[fixed | set(some)] = -((-1.0) ** (len(group) - len(some)))
        factors[group] = table.contrast(weights)
    adjusted = holm({"+".join(g): p_beyond_noise(f) for g, f in factors.items()})
    return tuple(
        Interaction(methods=g, factor=f, p_holm=adjusted["+".join(g)],
                    significant=adjusted["+".join(g)] <= ALPHA)
        for g, f in factors.items()
    )  # fmt: skip


def _in_every_context(
    table: Variants,
    methods: Sequence[str],
    fixed: Switched,
    single: MethodEffect,
    interactions: tuple[Interaction, ...],
) -> MethodEffect:
    """The method's effect given what it does beside every combination of the others."""
    method = single.method
    others = [m for m in methods if m != method]
    marginals = {
        some: table.speedup(fixed | {*some, method}, fixed | set(some)) for some in _subsets(others)
    }
    adjusted = holm({"+".join(s): p_beyond_noise(found) for s, found in marginals.items()})
    elsewhere = [s for s in marginals if adjusted["+".join(s)] <= ALPHA]
    partners = sorted(
        {m for i in interactions if i.significant and method in i.methods for m in i.methods}
        - {method}
    )
    effect, detail = single.effect, ""
    if single.effect == "within noise" and elsewhere:
        beside = "alone" if () in elsewhere else f"beside {'+'.join(elsewhere[0])}"
        effect = "inseparable"
        detail = f"acts {beside}, not beside {', '.join(partners or others)}"
    return msgspec.structs.replace(
        single, effect=effect, alone=marginals[()], detail=detail or single.detail,
        share=_shapley(table, methods, fixed, method), partners=tuple(partners),
    )  # fmt: skip


def _shapley(table: Variants, methods: Sequence[str], fixed: Switched, method: str) -> Comparison:
    """Mean marginal log speedup over all orders of switching on; the shares sum to the total."""
    count = len(methods)
    weights: dict[Switched, float] = {}
    for some in _subsets([m for m in methods if m != method]):
        share = math.factorial(len(some)) * math.factorial(count - len(some) - 1)
        share_of_orders = share / math.factorial(count)
        weights[fixed | set(some)] = share_of_orders
        weights[fixed | {*some, method}] = -share_of_orders
    return table.contrast(weights)


def factorial_group(attribution: Attribution) -> tuple[str, ...]:
    """The methods to put into the factorial that ``needs_factorial`` asks for, at most four.

    Those that leave-one-out could not tell apart come first, then those with the largest
    effects, which may overlap with them.
    """

    def rank(one: MethodEffect) -> tuple[bool, float]:
        size = abs(math.log(one.speedup.ratio)) if one.speedup else 0.0
        return one.effect != "inseparable", -size

    usable = [one for one in attribution.effects if one.effect != "not measured"]
    chosen = {one.method for one in sorted(usable, key=rank)[:MOST_IN_FACTORIAL]}
    return tuple(one.method for one in attribution.effects if one.method in chosen)
