"""sass_check.json says for every method what the machine code shows."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a method without a verdict, and one that its functions do not bear out."""
    sass, methods = context.version.sass, context.version.methods
    if sass is None or methods is None:
        return
    path = context.paths.sass_check
    found = {row.method: row for row in sass.methods}
    for row in methods.methods:
        if row.method not in found:
            yield context.refuse_measured("opcodes", path, f"says nothing of {row.method}")
    for judged in sass.methods:
        outcomes = {function.outcome for function in judged.functions}
        if outcomes and judged.outcome not in outcomes:
            yield context.refuse_measured(
                "opcodes",
                path,
                f"calls {judged.method} {judged.outcome}; its functions say "
                f"{', '.join(sorted(outcomes))}",
            )
        if judged.outcome == "confirmed" and not judged.functions:
            yield context.refuse_measured(
                "opcodes", path, f"calls {judged.method} confirmed and names no function"
            )


RULE = Rule(
    id="opcodes",
    title="Opcodes",
    refuses="A method that sass_check.json does not judge, or whose verdict none of its functions "
    "gives; a confirmation without a function.",
    check=check,
    every=True,
)
