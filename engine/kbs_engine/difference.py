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
instruction. A reason that is zero on one side counts whole as wait (the limit of w_r · ln for
S_r → 0; Ang and Liu, Energy Policy 35, 2007, 238-246). One that was not collected on both sides
is no zero: it is left in what no common reason covers.

residual = ln of the measured times - Σ terms: counters of different replay passes, and
everything that was not collected.
"""

from __future__ import annotations

import math
from typing import Final

from kbs_engine.differences import Difference, OpcodeChange, Part, Side, Term
from kbs_engine.execution import Execution, counted_alike
from kbs_engine.rows import SHORT_KERNEL_NS
from kbs_engine.waits import log_mean, split_waits

OPCODE_PARTS: Final = 8
"""Opcodes shown by their share; the rest are summed as one part."""
GREW: Final = 1.25
"""An opcode count that changes by less than this factor is not called grown or shrunk."""
VISIBLE: Final = 0.001
"""Opcodes under this share of both instruction counts are not listed as changes."""
UNEXPLAINED: Final = 0.10
"""A residual above this (as a log) is told as a warning."""


def compare(first: Execution, second: Execution) -> Difference:
    """Split ln(time A / time B): a positive term is a reason why B is the faster.

    Args:
        first: side A.
        second: side B; both must have a time.
    """
    missing = _missing(first, second)
    total = math.log(first.time_ns / second.time_ns)
    terms: list[Term] = []
    notes: list[str] = _doubts(first, second)
    first, second = counted_alike((first, second))
    _inverse(terms, "clock", "SM clock", first.clock_hz, second.clock_hz, "Hz")
    if terms:
        terms.extend(_work(first, second, notes))
    explained = sum(term.log for term in terms)
    residual = total - explained
    if abs(residual) > UNEXPLAINED:
        notes.append(
            "more than a tenth (as a log) stays unexplained: "
            + ("see what was not collected" if missing else "the counters of the passes disagree")
        )
    if min(first.time_ns, second.time_ns) < SHORT_KERNEL_NS and terms:
        notes.append(
            "a launch under 10 µs: counters of its replay passes differ by tens of percent"
        )
    notes.extend(_hardware(first, second))
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


def _doubts(first: Execution, second: Execution) -> list[str]:
    """What the readers flagged of either side, told once where it is said of both."""
    both = [flag for flag in first.flags if flag in second.flags]
    rest = [
        f"{letter}: {flag}"
        for letter, one in (("A", first), ("B", second))
        for flag in one.flags
        if flag not in both
    ]
    return [*both, *rest]


def _hardware(first: Execution, second: Execution) -> list[str]:
    """Whether the two ran on different chips, as far as the reports tell."""
    chips = (first.chip, second.chip)
    capabilities = (first.compute_capability, second.compute_capability)
    for pair in (chips, capabilities):
        if all(pair) and pair[0] != pair[1]:
            return ["two different chips: part of the difference is the hardware"]
    unknown = [letter for letter, chip in zip("AB", chips, strict=True) if chip is None]
    if not unknown:
        return []
    sides = " and ".join(unknown)
    return [f"no one chip is named for {sides}: part of the difference may be the hardware"]


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
    if not (first.instructions and second.instructions):
        return terms
    if not (first.active_share and second.active_share):
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
        waits = split_waits(first, second)
        notes.extend(waits.notes)
        terms.extend(_counts(first, second, weight=waits.per_instruction))
        terms.extend(waits.terms)
    else:
        _inverse(terms, "issue_rate", "instructions per scheduler and cycle", *rates, "per cycle")
        terms.extend(_counts(first, second, weight=1.0))
    return terms


def _counts(first: Execution, second: Execution, *, weight: float) -> list[Term]:
    """Instructions executed, split by opcode, and instructions issued again."""
    executed = (first.executed, second.executed)
    issued = (first.issued, second.issued)
    if not (executed[0] and executed[1]):
        return [_instructions("instructions issued", issued, weight, ())]
    parts = _opcode_parts(first, second, weight)
    found = [_instructions("instructions executed", executed, weight, parts)]
    if issued[0] and issued[1]:
        again = (issued[0] / executed[0], issued[1] / executed[1])
        found.append(
            Term(
                id="reissues",
                words="issues per executed instruction",
                log=weight * math.log(again[0] / again[1]),
                unit="",
                first=again[0],
                second=again[1],
            )
        )
    return found


def _instructions(
    words: str, counts: tuple[float | None, float | None], weight: float, parts: tuple[Part, ...]
) -> Term:
    a, b = (count or 1.0 for count in counts)
    return Term(
        id="instructions",
        words=words,
        log=weight * math.log(a / b),
        unit="instructions",
        first=a,
        second=b,
        parts=parts,
    )


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
