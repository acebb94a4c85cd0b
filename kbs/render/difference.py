"""A comparison of two launches as text and JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbs_engine.differences import Difference, OpcodeChange, Part, Side, Term
from kbs_engine.units import human_bytes, human_ns, human_rate

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_PARTS = 6
"""Parts of a term that are printed without ``-v``."""
APART = 0.05
"""Factors that pull apart by more than this are also told together."""
FLAT = 0.005
"""A factor nearer to 1 than this is printed only with ``-v``."""


def difference_shape(row: Difference) -> dict[str, Any]:
    """The JSON of one comparison (docs/cli.md)."""
    return {
        "a": _side_shape(row.first),
        "b": _side_shape(row.second),
        "speed_ratio": row.speed_ratio,
        "log_speed_ratio": row.log_ratio,
        "terms": [_term_shape(term) for term in row.terms],
        "unexplained": {"log": row.unexplained.log, "factor": row.unexplained.factor},
        "opcodes": [
            {"opcode": one.opcode, "change": one.change, "a": one.first, "b": one.second}
            for one in row.opcodes
        ],
        "missing_sections": list(row.missing),
        "notes": list(row.notes),
    }


def _side_shape(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "launches": list(side.launches),
        "time_ns": side.time_ns,
        "chip": side.chip,
        "report": side.source,
    }


def _term_shape(term: Term) -> dict[str, Any]:
    return {
        "id": term.id,
        "words": term.words,
        "log": term.log,
        "factor": term.factor,
        "a": term.first,
        "b": term.second,
        "unit": term.unit,
        "parts": [
            {
                "id": part.id,
                "log": part.log,
                "factor": part.factor,
                "a": part.first,
                "b": part.second,
                "unit": part.unit,
            }
            for part in term.parts
        ],
    }


def show_difference(console: Console, row: Difference, *, verbose: bool) -> None:
    """Verdict, factors with their parts, what stays unexplained, opcode changes."""
    console.print()
    for letter, side in (("A", row.first), ("B", row.second)):
        launches = ", ".join(map(str, side.launches))
        word = "launch" if len(side.launches) == 1 else "launches"
        console.print(
            f"{letter}  {side.name}  {word} {launches}, {human_ns(side.time_ns)}, "
            f"{side.chip or 'chip unknown'}",
            style="bold",
            markup=False,
        )
    console.print(f"  {_verdict(row)}", markup=False)
    if row.terms:
        console.print("  The speed of B against A is the product of", markup=False)
    flat = []
    for term in row.terms:
        if abs(term.log) < FLAT and not verbose and not _loud(term):
            flat.append(term.words)
        else:
            _term(console, term, verbose=verbose)
    console.print(f"    {_factor(row.unexplained.log)}  unexplained", markup=False)
    if flat:
        console.print(f"    the same on both sides: {'; '.join(flat)}", style="dim", markup=False)
    _offset(console, row)
    _opcodes(console, row.opcodes, verbose=verbose)
    for note in row.notes:
        console.print(f"  note: {note}", style="dim", markup=False)
    if row.missing:
        flags = " ".join(f"--section {name}" for name in row.missing)
        console.print(f"  ncu {flags} on both would explain more", style="dim", markup=False)


def _verdict(row: Difference) -> str:
    ratio, word = row.speed_ratio, "fast"
    if row.log_ratio < 0:
        ratio, word = 1 / ratio, "slow"
    if row.log_ratio == 0:
        return "A and B take the same time"
    if f"{ratio:.3g}" == "1":
        return f"A and B take the same time to three digits (B is {ratio:.6g} times as {word})"
    return f"B is {ratio:.3g} times as {word} as A"


def _loud(term: Term) -> bool:
    """Parts that cancel in the sum are worth a look all the same."""
    return any(abs(part.log) >= FLAT for part in term.parts)


def _factor(log: float) -> str:
    return f"×{math.exp(log):<7.4g} ({log:+.3f})"


def _term(console: Console, term: Term, *, verbose: bool) -> None:
    console.print(
        f"    {_factor(term.log)}  {term.words}: "
        f"{_amount(term.first, term.unit)} -> {_amount(term.second, term.unit)}",
        markup=False,
    )
    parts = [part for part in term.parts if verbose or abs(part.log) >= FLAT]
    shown = parts if verbose else parts[:SHOWN_PARTS]
    for part in shown:
        console.print(f"        {_part(part)}", style="dim", markup=False)
    rest = [part for part in parts if part not in shown]
    if rest:
        log = sum(part.log for part in rest)
        console.print(f"        {_factor(log)}  {len(rest)} more (-v)", style="dim", markup=False)


def _part(part: Part) -> str:
    return (
        f"{_factor(part.log)}  {part.id}: {_amount(part.first, part.unit)} -> "
        f"{_amount(part.second, part.unit)}"
    )


def _offset(console: Console, row: Difference) -> None:
    """Fewer warps that each wait less is one change, told in two factors."""
    logs = {term.id: term.log for term in row.terms}
    warps, waits = logs.get("occupancy", 0.0), logs.get("stalls", 0.0) + logs.get("traffic", 0.0)
    if warps * waits < 0 and min(abs(warps), abs(waits)) >= APART:
        console.print(
            f"    resident warps and waiting (with traffic) pull apart: together "
            f"{_factor(warps + waits).strip()}",
            style="dim",
            markup=False,
        )


def _opcodes(console: Console, rows: tuple[OpcodeChange, ...], *, verbose: bool) -> None:
    for change in ("appeared", "vanished", "grew", "shrank"):
        group = [row for row in rows if row.change == change]
        if not group:
            continue
        shown = group if verbose else group[:8]
        words = ", ".join(f"{row.opcode} {_counts(row)}" for row in shown)
        rest = f" and {len(group) - len(shown)} more (-v)" if len(group) > len(shown) else ""
        console.print(f"  opcodes that {change}: {words}{rest}", markup=False)


def _counts(row: OpcodeChange) -> str:
    if row.change == "appeared":
        return f"({_count(row.second)})"
    if row.change == "vanished":
        return f"({_count(row.first)})"
    return f"({_count(row.first)} -> {_count(row.second)})"


def _count(value: float) -> str:
    for factor, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.4g} {name}"
    return f"{value:.0f}"


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "not measured"
    write = _WRITERS.get(unit)
    return write(value) if write else f"{value:.4g} {unit}".rstrip()


_WRITERS: dict[str, Callable[[float], str]] = {
    "Hz": lambda value: human_rate(value, "Hz"),
    "B": human_bytes,
    "of the cycles": lambda value: f"{value:.1%}",
    "instructions": _count,
    "wavefront": lambda value: f"{_count(value)} wavefronts",
}
