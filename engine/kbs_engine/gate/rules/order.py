"""Evidence before decision: the steps of a version come in their order."""

from __future__ import annotations

from collections.abc import Iterator

from kbs_engine.gate.context import GateContext
from kbs_engine.gate.refusal import Refusal, Rule

BEFORE = (
    ("bench.json", "roofline.json"),
    ("bench.json", "kbs_evidence.md"),
    ("ncu_top.json", "roofline.json"),
    ("ncu_top.json", "kbs_evidence.md"),
    ("roofline.json", "plan.md"),
    ("roofline.json", "hypothesis.txt"),
    ("kbs_evidence.md", "plan.md"),
    ("kbs_evidence.md", "hypothesis.txt"),
)
"""What must be written before what."""


def check(context: GateContext) -> Iterator[Refusal]:
    """Refuse a decision that was written before what it should rest on."""
    if context.broken is not None:
        return
    written = {event.data["path"]: event.seq for event in context.run.journal.of_kind("artifact")}
    folder = f"v{context.number}"
    for first, then in BEFORE:
        one, two = written.get(f"{folder}/{first}"), written.get(f"{folder}/{then}")
        if one is not None and two is not None and two < one:
            told = f"was written before {first}, on which it should rest"
            yield context.refuse_for_good("order", context.paths.root / then, told)


RULE = Rule(
    id="order",
    title="Order of artifacts",
    refuses="Evidence, plan or hypothesis written before what was measured; a plan before its "
    "evidence.",
    check=check,
    every=True,
)
