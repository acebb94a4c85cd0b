"""From fired rules to root causes and their effects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kbs_engine.message import fill, flatten
from kbs_engine.ports import Rows
from kbs_engine.symptoms import Cause, Evidence, NotMeasurable, RuleResult, SymptomRule

EXPLAINS_AT_LEAST: Final = 0.35
"""A symptom explains another only if it could return at least this share of what the other
could: a trickle of spills does not explain a kernel that waits for memory all the time."""

SEVERITY_PER_SHARE: Final = 2.0
"""Severity never exceeds twice the time at stake: a 32-way conflict that costs 2 % of the time
is not severe."""

_UNITS: Final[tuple[tuple[str, str], ...]] = (
    ("_pct", "%"),
    ("_ns", "ns"),
    ("_bytes_per_s", "B/s"),
    ("_bytes", "B"),
    ("_hz", "Hz"),
)


def unit_of(metric: str) -> str:
    """The unit that a canonical name states; empty for counts and ratios."""
    return next((unit for ending, unit in _UNITS if metric.endswith(ending)), "")


def find_causes(
    rules: Sequence[SymptomRule], results: Sequence[RuleResult], rows: Rows
) -> tuple[tuple[Cause, ...], tuple[Cause, ...], tuple[NotMeasurable, ...]]:
    """Root causes, their effects, and the rules that could not be asked.

    Findings that explain others come first, then causes by what they could return.

    A fired symptom that a stronger fired symptom explains, directly or through others, is an
    effect. Of two that explain each other the one that could return more is the root.
    A finding (axis none, such as `at_memory_roof`) explains whatever it names: it is why
    those symptoms are no faults here.
    """
    by_id = {rule.id: rule for rule in rules}
    gap = rows.h.get("gap")
    fired = {result.id: _at_stake(result, gap) for result in results if result.fired}
    explained_by = _explainers(by_id, fired)
    effects: set[str] = set()
    for name in sorted(fired, key=lambda name: _rank(fired[name])):
        if any(other not in effects for other in explained_by[name]):
            effects.add(name)
    causes = [_cause(by_id[name], fired[name], rows, explained_by) for name in fired]
    causes.sort(key=lambda cause: (-cause.recoverable, -cause.severity, cause.id))
    causes.sort(key=lambda cause: cause.axis != "none" or not cause.explains)
    missing = tuple(
        NotMeasurable(id=result.id, needs=result.missing, sections=by_id[result.id].sections)
        for result in results
        if result.fired is None
    )
    roots = tuple(cause for cause in causes if cause.id not in effects)
    return roots, tuple(cause for cause in causes if cause.id in effects), missing


def _at_stake(result: RuleResult, gap: float | None) -> RuleResult:
    """No symptom can return more than the gap to the model, nor be worse than what it costs."""
    share = result.recoverable if gap is None else min(result.recoverable, gap)
    severity = min(result.severity, SEVERITY_PER_SHARE * share)
    return msgspec.structs.replace(result, recoverable=share, severity=severity)


def _rank(result: RuleResult) -> tuple[float, float, str]:
    return (result.recoverable, result.severity, result.id)


def _explainers(
    rules: Mapping[str, SymptomRule], fired: Mapping[str, RuleResult]
) -> dict[str, frozenset[str]]:
    """For each fired symptom, the fired symptoms that explain it, through chains too."""
    reach = {name: _reachable(name, rules, fired) for name in fired}
    found: dict[str, frozenset[str]] = {}
    for name, result in fired.items():
        found[name] = frozenset(
            other
            for other in fired
            if other != name
            and name in reach[other]
            and (
                rules[other].axis == "none"
                or fired[other].recoverable >= EXPLAINS_AT_LEAST * result.recoverable
            )
            and (other not in reach[name] or _rank(fired[other]) > _rank(result))
        )
    return found


def _reachable(
    start: str, rules: Mapping[str, SymptomRule], fired: Mapping[str, RuleResult]
) -> set[str]:
    seen: set[str] = set()
    todo = list(rules[start].explains)
    while todo:
        name = todo.pop()
        if name in seen or name not in fired:
            continue
        seen.add(name)
        todo.extend(rules[name].explains)
    return seen


def _cause(
    rule: SymptomRule,
    result: RuleResult,
    rows: Rows,
    explained_by: Mapping[str, frozenset[str]],
) -> Cause:
    values = flatten(rows)
    evidence = tuple(
        Evidence(metric=column[2:], value=value, unit=unit_of(column))
        for column in rule.needs
        if isinstance(value := values.get(column), (int, float))
    )
    return Cause(
        id=rule.id,
        axis=rule.axis,
        title=rule.title,
        severity=result.severity,
        recoverable=result.recoverable,
        message=fill(rule.message, rows),
        evidence=evidence,
        explains=tuple(sorted(name for name, by in explained_by.items() if rule.id in by)),
        explained_by=tuple(sorted(explained_by[rule.id])),
        citation=rule.citation,
    )


def together(shares: Iterable[float]) -> float:
    """Time that independent cures return together: 1 − Π(1 − rᵢ), never a plain sum."""
    return 1 - math.prod(1 - share for share in shares)
