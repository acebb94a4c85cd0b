"""The list of rules as docs/gate.md shows it."""

from __future__ import annotations

from kbs_engine.gate.refusal import Rule
from kbs_engine.gate.registry import RULES


def rules_markdown() -> str:
    """One row per rule, in the order in which they are asked."""
    rows = [f"| `{rule.id}` | {rule.refuses} | {_asked(rule)} |" for rule in RULES.values()]
    return "\n".join(["| Rule | Refuses | Asked |", "|---|---|---|", *rows])


def _asked(rule: Rule) -> str:
    if rule.final:
        return "at the final gate"
    return "of every version" if rule.every else "of the version at the gate"
