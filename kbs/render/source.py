"""Guilty source lines as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbs_engine.recommendations import KernelDiagnosis
from kbs_engine.sourceview import (
    NO_LINES,
    NOT_COLLECTED,
    STALL,
    Instruction,
    SourceLine,
    SourceView,
    guilty,
    source_lines,
)

if TYPE_CHECKING:
    from rich.console import Console

LEAST = 0.01
"""Shares below this are not printed."""
SHOWN_LINES = 10
"""Lines of the JSON and of ``-v``."""


def source_shape(item: KernelDiagnosis, view: SourceView) -> dict[str, Any]:
    """The keys ``lines``, ``guilty_lines`` and ``source_note`` of a kernel (docs/cli.md)."""
    lines = source_lines(view) if view.collected else ()
    return {
        "lines": [_line_shape(line) for line in lines[:SHOWN_LINES]],
        "guilty_lines": [
            {
                "cause": row.cause,
                "quantity": row.quantity,
                "share": round(row.share, 4),
                "value": row.value,
                "file": row.line.file,
                "line": row.line.line,
                "address": row.line.instructions[0].address,
            }
            for row in guilty(view, _ids(item))
        ],
        "source_note": source_note(view),
    }


def _ids(item: KernelDiagnosis) -> list[str]:
    return [cause.id for cause in (*item.causes, *item.effects)]


def source_note(view: SourceView) -> str:
    """What is missing, in words; empty when nothing is."""
    if not view.collected:
        return NOT_COLLECTED
    return "" if any(one.file for one in view.instructions) else NO_LINES


def _line_shape(line: SourceLine) -> dict[str, Any]:
    return {
        "file": line.file,
        "line": line.line,
        "text": line.text,
        "values": line.values,
        "shares": {name: round(share, 4) for name, share in line.shares.items()},
        "instructions": [
            {"address": one.address, "sass": one.sass, "values": one.values}
            for one in line.instructions
        ],
    }


def show_source(
    console: Console, item: KernelDiagnosis, view: SourceView, *, verbose: bool
) -> None:
    """For each cause the lines that carry it; with ``-v`` the worst lines besides."""
    note = source_note(view)
    if note:
        console.print(f"  {note}", style="dim", markup=False)
    if not view.collected:
        return
    rows = guilty(view, _ids(item))
    if rows:
        console.print("  Guilty lines", style="bold")
    for row in rows:
        words = _QUANTITIES.get(row.quantity, f"samples stalled by {row.quantity[len(STALL) :]}")
        console.print(
            f"    {row.cause}: {_place(row.line)}  {row.share:.0%} of the {words} "
            f"({row.value:.4g})",
            markup=False,
        )
        _code(console, row.line, most=2)
    if any(row.quantity.startswith(STALL) for row in rows):
        console.print(
            "    a sample stands at the instruction that waits; what it waits for is above it",
            style="dim",
            markup=False,
        )
    if verbose or not rows:
        console.print("  Worst lines", style="bold")
        for line in source_lines(view)[:SHOWN_LINES]:
            told = ", ".join(
                f"{line.shares[name]:.0%} of {words}"
                for name, words in _QUANTITIES.items()
                if line.shares.get(name, 0.0) >= LEAST
            )
            console.print(f"    {_place(line)}  {told}", markup=False)
            _code(console, line, most=1)


_QUANTITIES = {
    "samples": "samples",
    "global_excess_sectors": "excess sectors of global accesses",
    "shared_excess_wavefronts": "excess wavefronts of shared memory",
}


def _code(console: Console, line: SourceLine, *, most: int) -> None:
    if line.text:
        console.print(f"        {line.text}", markup=False)
    for one in line.instructions[:most]:
        console.print(f"        {_sass(one)}", style="dim", markup=False)


def _sass(one: Instruction) -> str:
    return f"{one.address:#x}  {one.sass or 'SASS not in the report'}"


def _place(line: SourceLine) -> str:
    if line.file is None:
        return f"SASS at {line.instructions[0].address:#x}"
    return f"{line.file}:{line.line}"
