"""Why one launch is faster than another: the time ratio as a product of measured factors.

The identity (all counters from one report each, rates as Nsight Compute defines them)::

    time           = elapsed cycles / SM clock
    elapsed cycles = SM-active cycles / share of cycles in which the mean SM was active
    active cycles  = resident warp-cycles / (SMs × schedulers × resident warps per scheduler)
    warp-cycles    = issued instructions × warp cycles per issued instruction

The third line is the definition of resident warps, the fourth Little's law on a scheduler:
issue rate = resident warps / warp latency per issue (Nsight Compute profiling guide, warp
scheduler model; J. D. C. Little, A Proof for the Queuing Formula L = λW, 1961). So::

    time = issued × latency / (clock × active share × SMs × schedulers × warps)

Schedulers per SM cancel as long as both chips have as many (4 since Volta).

Warp latency is a sum over stall reasons, and a log of a sum does not split by itself. It is
split by the logarithmic mean Divisia index (B. W. Ang, Energy Policy 32, 2004, 1131-1139):
with S_r the warp-cycles of reason r and L(x, y) = (x - y) / ln(x / y),

    ln(S_A / S_B) = Σ_r w_r · ln(S_rA / S_rB),    w_r = L(S_rA, S_rB) / L(S_A, S_B)

which is exact, changes sign when A and B are swapped, and needs no order of the factors. Each
S_r is in turn a count times a wait: for the reasons that wait on the limiting memory level,
bytes × wait per byte (the traffic term is the bytes); for all others, instructions × wait per
instruction. A reason that one side lacks counts whole as wait (the limit of w_r · ln for
S_r → 0; Ang and Liu, Energy Policy 35, 2007, 238-246).

residual = ln of the measured times - Σ terms: counters of different replay passes, and
everything that was not collected.
"""

from __future__ import annotations

import math
from typing import Final

from kbs_engine.differences import Difference, OpcodeChange, Part, Side, Term
from kbs_engine.execution import Execution
from kbs_engine.rows import SHORT_KERNEL_NS
from kbs_engine.traffic import MEMORY_REASONS, Level, common_level

OPCODE_PARTS: Final = 8
"""Opcodes shown by their share; the rest are summed as one part."""
GREW: Final = 1.25
"""An opcode count that changes by less than this factor is not called grown or shrunk."""
VISIBLE: Final = 0.001
"""Opcodes under this share of both instruction counts are not listed as changes."""
_EQUAL: Final = 1e-8
"""Ratios whose log is below this count as one: the quotient would lose its digits."""
UNEXPLAINED: Final = 0.10
"""A residual above this (as a log) is told as a warning."""


def log_mean(first: float, second: float) -> float:
    """(x - y) / ln(x / y), x for equal values, 0 when one is 0."""
    if first <= 0 or second <= 0:
        return 0.0
    ratio = math.log(first / second)
    if abs(ratio) < _EQUAL:
        return math.sqrt(first * second)
    return (first - second) / ratio


def compare(first: Execution, second: Execution) -> Difference:
    """Split ln(time A / time B): a positive term is a reason why B is the faster.

    Args:
        first: side A.
        second: side B; both must have a time.
    """
    total = math.log(first.time_ns / second.time_ns)
    terms: list[Term] = []
    notes: list[str] = []
    _inverse(terms, "clock", "SM clock", first.clock_hz, second.clock_hz, "Hz")
    if terms:
        terms.extend(_work(first, second, notes))
    explained = sum(term.log for term in terms)
    residual = total - explained
    missing = _missing(first, second)
    if abs(residual) > UNEXPLAINED:
        notes.append(
            "more than a tenth (as a log) stays unexplained: "
            + ("see what was not collected" if missing else "the counters of the passes disagree")
        )
    if min(first.time_ns, second.time_ns) < SHORT_KERNEL_NS and terms:
        notes.append(
            "a launch under 10 µs: counters of its replay passes differ by tens of percent"
        )
    if first.chip != second.chip:
        notes.append("two different chips: part of the difference is the hardware")
    return Difference(
        first=_side(first),
        second=_side(second),
        speed_ratio=first.time_ns / second.time_ns,
        log_ratio=total,
        terms=tuple(terms),
        unexplained=Term(
            id="unexplained", words="unexplained", log=residual, unit="", first=None, second=None
        ),
        opcodes=opcode_changes(first.opcodes, second.opcodes),
        missing=missing,
        notes=tuple(notes),
    )


def _side(one: Execution) -> Side:
    return Side(
        name=one.name, launches=one.launches, time_ns=one.time_ns, chip=one.chip, source=one.source
    )


def _inverse(
    terms: list[Term], name: str, words: str, a: float | None, b: float | None, unit: str
) -> None:
    """A factor by which the time is divided."""
    if a and b:
        log = math.log(b / a)
        terms.append(Term(id=name, words=words, log=log, unit=unit, first=a, second=b))


def _work(first: Execution, second: Execution, notes: list[str]) -> list[Term]:
    """Everything behind the cycles: only where both sides can be followed down to instructions."""
    terms: list[Term] = []
    rates = (first.issue_rate, second.issue_rate)
    if not (first.issued and second.issued and first.active_share and second.active_share):
        return terms
    followed = all(one.warps and one.latency for one in (first, second))
    if not followed and not all(rates):
        return terms
    units = (first.unit_count, second.unit_count)
    if not all(units):
        return terms
    _inverse(terms, "units", "SMs", *units, "SMs")
    shares = (first.active_share, second.active_share)
    _inverse(terms, "active_share", "SMs active (idle and tail)", *shares, "of the cycles")
    if followed:
        _inverse(
            terms, "occupancy", "resident warps per scheduler", first.warps, second.warps, "warps"
        )
        terms.extend(_latency(first, second, notes))
    else:
        _inverse(terms, "issue_rate", "instructions per scheduler and cycle", *rates, "per cycle")
        terms.extend(_counts(first, second, weight=1.0))
    return terms


def _latency(first: Execution, second: Execution, notes: list[str]) -> list[Term]:
    level, why = common_level(first, second)
    if why:
        notes.append(why)
    reasons = _reasons(first, second)
    scale = log_mean(first.warp_cycles, second.warp_cycles)
    bytes_log = math.log(level.first / level.second) if level else 0.0
    count_log = math.log((first.issued or 1.0) / (second.issued or 1.0))
    memory = MEMORY_REASONS[level.name] if level else frozenset[str]()
    weights = {"memory": 0.0, "other": 0.0}
    waits: list[Part] = []
    for reason, (a, b) in reasons.items():
        weight = log_mean(a, b) / scale
        kind = "memory" if reason in memory else "other"
        weights[kind] += weight
        whole = (a - b) / scale
        wait = whole - weight * (bytes_log if kind == "memory" else count_log)
        waits.append(_wait(reason, wait, level if kind == "memory" else None, first, second))
    terms = _counts(first, second, weight=weights["other"])
    if level:
        terms.append(_traffic(level, bytes_log * weights["memory"]))
    waits.sort(key=lambda part: (-abs(part.log), part.id))
    terms.append(
        Term(
            id="stalls",
            words="waiting: warp cycles per issued instruction",
            log=sum(part.log for part in waits),
            unit="cycles",
            first=first.latency,
            second=second.latency,
            parts=tuple(waits),
        )
    )
    return terms


def _reasons(first: Execution, second: Execution) -> dict[str, tuple[float, float]]:
    """Warp-cycles by reason of both sides; what no reason covers is ``other``."""
    found: dict[str, tuple[float, float]] = {}
    names = sorted({*first.stalls, *second.stalls})
    for name in names:
        pair = (first.stalls.get(name, 0.0), second.stalls.get(name, 0.0))
        if any(pair):
            found[name] = pair
    rest = tuple(one.warp_cycles - sum(one.stalls.values()) for one in (first, second))
    found["other"] = (rest[0], rest[1])
    return found


def _wait(
    reason: str, log: float, level: Level | None, first: Execution, second: Execution
) -> Part:
    counts = (level.first, level.second) if level else (first.issued or 1.0, second.issued or 1.0)
    values = [
        (
            one.warp_cycles - sum(one.stalls.values())
            if reason == "other"
            else one.stalls.get(reason, 0.0)
        )
        / count
        for one, count in zip((first, second), counts, strict=True)
    ]
    unit = f"cycles per {level.unit}" if level else "cycles per instruction"
    return Part(id=reason, log=log, first=values[0], second=values[1], unit=unit)


def _traffic(level: Level, log: float) -> Term:
    return Term(
        id="traffic",
        words=f"traffic at the limiting level ({level.words})",
        log=log,
        unit="B" if level.unit == "byte" else level.unit,
        first=level.first,
        second=level.second,
    )


def _counts(first: Execution, second: Execution, *, weight: float) -> list[Term]:
    """Instructions executed, split by opcode, and instructions issued again."""
    executed = (first.executed, second.executed)
    issued = (first.issued or 1.0, second.issued or 1.0)
    if not (executed[0] and executed[1]):
        log = weight * math.log(issued[0] / issued[1])
        return [
            Term(
                id="instructions", words="instructions issued", log=log, unit="instructions",
                first=issued[0], second=issued[1],
            )
        ]  # fmt: skip
    again = (issued[0] / executed[0], issued[1] / executed[1])
    return [
        Term(
            id="instructions",
            words="instructions executed",
            log=weight * math.log(executed[0] / executed[1]),
            unit="instructions",
            first=executed[0],
            second=executed[1],
            parts=_opcode_parts(first, second, weight),
        ),
        Term(
            id="reissues",
            words="issues per executed instruction",
            log=weight * math.log(again[0] / again[1]),
            unit="",
            first=again[0],
            second=again[1],
        ),
    ]


def _opcode_parts(first: Execution, second: Execution, weight: float) -> tuple[Part, ...]:
    """The instruction term by opcode: weight × (n_A - n_B) / L(N_A, N_B); exact in sum."""
    if not first.opcodes or not second.opcodes:
        return ()
    totals = (first.executed or 1.0, second.executed or 1.0)
    scale = log_mean(*totals)
    rest = [totals[0] - sum(first.opcodes.values()), totals[1] - sum(second.opcodes.values())]
    parts = []
    for name in sorted({*first.opcodes, *second.opcodes}):
        a, b = first.opcodes.get(name, 0.0), second.opcodes.get(name, 0.0)
        parts.append(
            Part(id=name, log=weight * (a - b) / scale, first=a, second=b, unit="instructions")
        )
    parts.sort(key=lambda part: (-abs(part.log), part.id))
    shown, hidden = parts[:OPCODE_PARTS], parts[OPCODE_PARTS:]
    rest[0] += sum(part.first or 0.0 for part in hidden)
    rest[1] += sum(part.second or 0.0 for part in hidden)
    log = weight * (rest[0] - rest[1]) / scale
    more = Part(id="all others", log=log, first=rest[0], second=rest[1], unit="instructions")
    return (*shown, more)


def opcode_changes(first: dict[str, float], second: dict[str, float]) -> tuple[OpcodeChange, ...]:
    """Opcodes that appeared, vanished, grew or shrank from A to B, largest change first."""
    if not first or not second:
        return ()
    totals = (sum(first.values()), sum(second.values()))
    found = []
    for name in {*first, *second}:
        a, b = first.get(name, 0.0), second.get(name, 0.0)
        seen = a >= VISIBLE * totals[0] or b >= VISIBLE * totals[1]
        change = _change(a, b)
        if seen and change:
            found.append(OpcodeChange(opcode=name, change=change, first=a, second=b))
    return tuple(sorted(found, key=lambda row: (-abs(row.first - row.second), row.opcode)))


def _change(a: float, b: float) -> str:
    if a == b:
        return ""
    if not a:
        return "appeared"
    if not b:
        return "vanished"
    if b / a >= GREW:
        return "grew"
    return "shrank" if a / b >= GREW else ""


def _missing(first: Execution, second: Execution) -> tuple[str, ...]:
    """Sections whose counters neither explanation nor residual can do without."""
    both = (first, second)
    known = {
        "SpeedOfLight": all(one.clock_hz and one.active_share for one in both),
        "LaunchStats": all(one.unit_count for one in both),
        "InstructionStats": all(one.executed and one.issued for one in both),
        "SchedulerStats": all(one.warps for one in both),
        "WarpStateStats": all(one.latency and one.stalls for one in both),
        "MemoryWorkloadAnalysis_Chart": all(one.traffic for one in both),
    }
    return tuple(section for section, measured in known.items() if not measured)
