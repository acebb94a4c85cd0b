"""A version is correct because its raw checks say so, not because a heading does."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule
from kbs_engine.results import Checked, Sanitized, read
from kbs_engine.run.benches import verdict
from kbs_engine.run.files import read_text

_PASS = re.compile(
    r"^\W*(?:verdict|status|result|correctness)\W+PASS(?:ED)?\b", re.IGNORECASE | re.MULTILINE
)
_FAIL = re.compile(r"\bFAIL(?:ED)?\b")


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a version that did not pass every round, or whose text does not say that it did."""
    bench = context.version.bench
    if bench is None or context.version.failed:
        return
    correct, reason, detail = verdict(bench.source_sha256, bench.checks, bench.blocks)
    if not correct or not bench.correct:
        told = reason or bench.reason or "refused"
        yield context.refuse_measured(
            "correctness",
            context.paths.bench,
            f"correctness did not pass: {told}" + (f" ({detail})" if detail else ""),
        )
    yield from _rounds(context)
    yield from _sanitizer(context)
    path = context.paths.correctness
    text = read_text(path) if path.is_file() else ""
    if text.strip() and (not _PASS.search(text) or _FAIL.search(text)):
        told = "has no PASS verdict" if not _PASS.search(text) else "speaks of a failure"
        yield context.refuse_measured("correctness", path, told)


def _rounds(context: GateContext) -> Iterator[Refusal]:
    bench = context.version.bench
    wanted = context.settings.check_rounds
    for result in bench.checks if bench else ():
        if result.value is None:
            continue
        rounds = len(read(result, Checked).rounds)
        if rounds < wanted and read(result, Checked).passed:
            yield context.refuse_measured(
                "correctness",
                context.paths.bench,
                f"was checked in {rounds} rounds; this run asks for {wanted}",
            )


def _sanitizer(context: GateContext) -> Iterator[Refusal]:
    bench = context.version.bench
    for result in bench.sanitized if bench else ():
        if result.value is None:
            continue
        for tool in msgspec.convert(result.value, Sanitized).tools:
            if tool.ran and tool.errors:
                yield context.refuse_measured(
                    "correctness",
                    context.paths.bench,
                    f"compute-sanitizer {tool.tool} found {tool.errors} errors",
                )


RULE = Rule(
    id="correctness",
    title="Correctness",
    refuses="A kernel whose raw checks did not pass every round, in fewer rounds than the run "
    "asks for, with sanitizer errors, or whose correctness.md does not say PASS.",
    check=check,
    every=True,
)
