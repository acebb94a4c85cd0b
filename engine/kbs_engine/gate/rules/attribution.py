"""What each method is said to return follows from its ablations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from kbs_engine.gate.ablation_again import attributions_again, differences
from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.run.benches import compare_arms
from kbs_engine.run.judged import AblatedVariant, AttributionFile, MethodAttribution
from kbs_engine.run.measured import Bench

_CLOSE = 1e-6


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse effects that the samples of the ablations do not give, and methods left out."""
    stated = context.version.attribution
    if stated is None:
        return
    benches = {part.name: part.bench for part in context.version.ablations if part.bench}
    for variant in stated.variants:
        bench = benches.get(variant.name)
        if bench is None:
            yield context.refuse_measured(
                "attribution",
                context.paths.attribution,
                f"rests on {variant.name}, of which nothing stands in ablations/",
            )
        else:
            yield from _variant(context, variant, bench)
    yield from _methods(context, stated)
    yield from _samples(context, stated, benches)


def _samples(
    context: GateContext, stated: AttributionFile, benches: Mapping[str, Bench]
) -> Iterator[Refusal]:
    """Gains, Holm's p values, totals, interactions and verdicts, computed once more."""
    path, noise = context.paths.attribution, context.settings.noise
    if stated.noise != noise:
        yield context.refuse_measured(
            "attribution", path, f"counts {stated.noise:g} as noise; the run has {noise:g}"
        )
    correct = bool(context.version.bench and context.version.bench.correct)
    rivals = {row.sha256 for row in context.state.versions if row.version != context.number}
    again = attributions_again(stated, benches, noise, rivals=rivals)
    for message in differences(stated, again, correct=correct):
        yield context.refuse_measured("attribution", path, message)


def _variant(context: GateContext, variant: AblatedVariant, bench: Bench) -> Iterator[Refusal]:
    """One ablated variant: its source, its verdict, and its ratio from raw samples."""
    path = context.paths.attribution
    if variant.sha256 != bench.source_sha256 or variant.correct != bench.correct:
        yield context.refuse_measured(
            "attribution", path, f"{variant.name} is not what was ablated"
        )
    timed = bench.timed()
    if variant.ratio is None or timed is None:
        return
    places = {arm.sha256: number for number, arm in enumerate(timed.arms)}
    champion, other = places.get(context.kernel_sha256), places.get(variant.sha256)
    if champion is None or other is None:
        yield context.refuse_measured(
            "attribution", path, f"{variant.name} never took turns with the champion"
        )
        return
    again = compare_arms(timed, champion, other, context.settings.noise)
    for name in ("ratio", "low", "high"):
        one, two = getattr(variant, name), getattr(again, name) if again else None
        if one is not None and (two is None or not math.isclose(one, two, rel_tol=_CLOSE)):
            told = "nothing" if two is None else f"{two:.6g}"
            yield context.refuse_measured(
                "attribution",
                path,
                f"{name} of {variant.name} is stated as {one:.6g}; its samples give {told}",
            )


def _methods(context: GateContext, stated: AttributionFile) -> Iterator[Refusal]:
    """Every method of the version has a verdict; the opcodes are those of sass_check.json."""
    path = context.paths.attribution
    found = {row.method: row for row in stated.methods}
    here = (
        [row.method for row in context.version.methods.methods] if context.version.methods else []
    )
    for name in here:
        if name not in found:
            yield context.refuse_measured("attribution", path, f"says nothing of {name}")
    sass = context.version.sass
    opcodes = {row.method: row.outcome for row in sass.methods} if sass else {}
    for row in stated.methods:
        if row.method in opcodes and row.opcodes != opcodes[row.method]:
            yield context.refuse_measured(
                "attribution",
                path,
                f"opcodes of {row.method} are stated as {row.opcodes}; sass_check.json says "
                f"{opcodes[row.method]}",
            )
        yield from _cell(context, row)


def _cell(context: GateContext, row: MethodAttribution) -> Iterator[Refusal]:
    """One method's cell of the verdict table (``kbs_engine.ablation``)."""
    from kbs_engine.ablation.verdicts import VERDICTS

    path = context.paths.attribution
    correct = bool(context.version.bench and context.version.bench.correct)
    fitting = {VERDICTS[row.opcodes, row.attribution, correct]}
    if row.attribution == "within noise":
        fitting.add(VERDICTS[row.opcodes, "inseparable", correct])
    if row.verdict not in fitting:
        yield context.refuse_measured(
            "attribution",
            path,
            f"{row.method} is called {row.verdict}; opcodes {row.opcodes.replace('_', ' ')} and "
            f"an effect that {row.attribution} make it {' or '.join(sorted(fitting))}",
        )
    if row.attribution == "helps" and (row.low is None or row.low <= 0):
        yield context.refuse_measured(
            "attribution",
            path,
            f"{row.method} is said to help, but its interval does not lie above zero",
        )


RULE = Rule(
    id="attribution",
    title="Attribution",
    refuses="A gain, an interval, a Holm p value, a total, an interaction or a verdict that the "
    "raw samples of the ablations do not give, a method without a verdict, opcodes other than "
    "sass_check.json has, a verdict that is not in the method's cell of the verdict table, or "
    "`helps` without an interval above zero.",
    check=check,
    every=True,
)
