"""A gain that only the device clock saw, or that physics does not allow, is no gain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.results import Timed, read
from kbs_engine.run.claims import disbelieved, proof_of
from kbs_engine.run.measured import Bench


def check(context: GateContext) -> Iterator[Refusal]:
    """Judge the claims of the version, and after the end those of the final benchmark.

    The loop's own last gate comes before the benchmark: one of an earlier end is measured anew.
    """
    if context.version.bench is not None and not context.version.failed:
        yield from _judge(context, context.paths.bench, context.version.bench)
    made = context.view.benchmark
    ended = context.final and not context.inspectors.looping
    if ended and made is not None and context.number == made.version:
        yield from _judge(context, context.run.paths.benchmark_data, made, baselines=True)


def _judge(
    context: GateContext, path: Path, bench: Bench, *, baselines: bool = False
) -> Iterator[Refusal]:
    for block in bench.blocks:
        if block.value is None:
            continue
        timed, noise = read(block, Timed), context.settings.noise
        if not baselines:
            timed = proof_of(timed, bench.source_sha256, context.state.baseline_sha256)
        reason, detail = disbelieved(timed, bench.source_sha256, noise, baselines=baselines)
        if reason:
            yield context.refuse_measured("claims", path, f"{reason}: {detail}")


RULE = Rule(
    id="claims",
    title="Claims",
    refuses="A version or a final benchmark that is called faster over at least three process "
    "pairs though the host clock saw less than half of the gain, or whose time lies below the "
    "physics floor.",
    check=check,
    every=True,
)
