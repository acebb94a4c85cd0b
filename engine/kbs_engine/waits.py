"""Waiting of two launches: warp-cycles by stall reason, and the traffic behind those on memory.

How the split is made is told in difference.py. A reason that was not collected on both sides is
never counted as zero on one of them: it belongs to what no common reason covers.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec

from kbs_engine.differences import Part, Term
from kbs_engine.execution import Execution
from kbs_engine.traffic import MEMORY_REASONS, Level, common_level

_EQUAL: Final = 1e-8
"""Ratios whose log is below this count as one: the quotient would lose its digits."""
OTHER: Final = "other"
"""Warp-cycles of no reason that both sides collected."""


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of waiting, and the weight of all waits that grow with instructions."""

    terms: tuple[Term, ...]
    per_instruction: float
    notes: tuple[str, ...]


def log_mean(first: float, second: float) -> float:
    """(x - y) / ln(x / y), x for equal values, 0 when one is 0."""
    if first <= 0 or second <= 0:
        return 0.0
    ratio = math.log(first / second)
    if abs(ratio) < _EQUAL:
        return math.sqrt(first * second)
    return (first - second) / ratio


def split_waits(first: Execution, second: Execution) -> Waits:
    """Split the ratio of the warp-cycles of both sides, which are known."""
    reasons, notes = _reasons(first, second)
    level, why = _level(first, second, set(reasons))
    scale = log_mean(first.warp_cycles, second.warp_cycles)
    counts = (first.instructions or 1.0, second.instructions or 1.0)
    logs = {
        True: math.log(level.first / level.second) if level else 0.0,
        False: math.log(counts[0] / counts[1]),
    }
    weights = {True: 0.0, False: 0.0}
    parts: list[Part] = []
    for reason, (a, b) in reasons.items():
        if not (a or b):
            continue
        weight = log_mean(a, b) / scale
        on_memory = level is not None and reason in MEMORY_REASONS[level.name]
        weights[on_memory] += weight
        parts.append(
            _wait(
                reason,
                (a - b) / scale - weight * logs[on_memory],
                level if on_memory else None,
                (a, b),
                counts,
            )
        )
    parts.sort(key=lambda part: (-abs(part.log), part.id))
    terms = [_traffic(level, logs[True] * weights[True])] if level else []
    terms.append(
        Term(
            id="stalls",
            words="waiting: warp cycles per issued instruction",
            log=sum(part.log for part in parts),
            unit="cycles",
            first=first.latency,
            second=second.latency,
            parts=tuple(parts) if len(reasons) > 1 else (),
        )
    )
    told = [*notes, why] if why else notes
    return Waits(terms=tuple(terms), per_instruction=weights[False], notes=tuple(told))


def _reasons(
    first: Execution, second: Execution
) -> tuple[dict[str, tuple[float, float]], list[str]]:
    """Warp-cycles of both sides by the reasons that both collected, and of all others."""
    common = sorted(first.stalls.keys() & second.stalls.keys())
    found = {name: (first.stalls[name], second.stalls[name]) for name in common}
    found[OTHER] = (
        first.warp_cycles - sum(a for a, _ in found.values()),
        second.warp_cycles - sum(b for _, b in found.values()),
    )
    alone = sorted(first.stalls.keys() ^ second.stalls.keys())
    if alone and not common:
        told = "no stall reason was collected on both sides: waiting is not split by them"
        return found, [told]
    if alone:
        told = ", ".join(alone)
        return found, [f"stall reasons collected on one side alone are part of {OTHER}: {told}"]
    return found, []


def _level(first: Execution, second: Execution, reasons: set[str]) -> tuple[Level | None, str]:
    """The memory level at which traffic is told apart: one whose waits both sides collected."""
    level, why = common_level(first, second)
    if level and not MEMORY_REASONS[level.name] & reasons:
        return None, (
            f"waits on {level.words} were not collected on both sides: traffic is not told apart"
        )
    return level, why


def _wait(
    reason: str,
    log: float,
    level: Level | None,
    cycles: tuple[float, float],
    counts: tuple[float, float],
) -> Part:
    if level:
        counts = (level.first, level.second)
    return Part(
        id=reason,
        log=log,
        first=cycles[0] / counts[0],
        second=cycles[1] / counts[1],
        unit=f"cycles per {level.unit}" if level else "cycles per instruction",
    )


def _traffic(level: Level, log: float) -> Term:
    return Term(
        id="traffic",
        words=f"traffic at the limiting level ({level.words})",
        log=log,
        unit="B" if level.unit == "byte" else level.unit,
        first=level.first,
        second=level.second,
    )
