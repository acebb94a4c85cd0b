"""Machine code and verdicts as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from kbs.assembling import Assembly, FunctionReport, MethodReport
from kbs_engine.facts import Chip
from kbs_engine.occupancy import Occupancy
from kbs_engine.results import KernelResources

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN_OPCODES = 12
_STYLES = {"confirmed": "green", "refuted": "red", "not_observable": "dim"}


def assembly_shape(found: Assembly) -> dict[str, Any]:
    """The JSON document."""
    shape: dict[str, Any] = msgspec.to_builtins(found)
    return shape


def show_assembly(console: Console, found: Assembly, chip: Chip | None, *, named: bool) -> None:
    """Functions first, then methods: all that were named, else those that are confirmed."""
    cached = ", cached" if found.cached else ""
    head = f"{found.source}: {found.language} for {found.arch} by {found.compiler}{cached}"
    console.print(head, style="bold", markup=False)
    for message in found.messages:
        place = f":{message.line}" if message.line else ""
        console.print(f"  {message.severity}{place}: {message.message}", markup=False)
    for function in found.functions:
        _function(console, function)
    cited = next((f.occupancy for f in found.functions if f.occupancy), None)
    if cited is not None and chip is not None:
        console.print(f"limits of {chip.arch}, from {chip.name}", style="bold", markup=False)
        for citation in cited.citations:
            console.print(f"  {citation}", style="dim", markup=False)
    _methods(console, found, named=named)
    for note in found.notes:
        console.print(f"note: {note}", style="dim", markup=False)


def _function(console: Console, row: FunctionReport) -> None:
    console.print(row.written, style="bold", markup=False)
    loops = "no loop"
    if row.loops:
        sizes = ", ".join(str(size) for size in row.loops)
        loops = f"{len(row.loops)} loops of {sizes} instructions"
        loops = loops.replace("1 loops", "1 loop") if len(row.loops) == 1 else loops
    console.print(
        f"  {row.instructions} instructions in {row.blocks} blocks; {loops}", markup=False
    )
    console.print(f"  opcodes: {_histogram(row.opcodes)}", markup=False)
    if row.main_loop is not None:
        console.print(
            f"  main loop ({row.main_loop} instructions): {_histogram(row.main_loop_opcodes)}",
            markup=False,
        )
    if row.resources is not None:
        console.print(f"  {_resources(row.resources)}", markup=False)
    if row.occupancy is not None:
        console.print(f"  {_occupancy(row.occupancy)}", markup=False)


def _histogram(opcodes: Mapping[str, int]) -> str:
    rows = list(opcodes.items())
    shown = "  ".join(f"{name} {count}" for name, count in rows[:_SHOWN_OPCODES])
    rest = len(rows) - _SHOWN_OPCODES
    return f"{shown}  and {rest} more" if rest > 0 else shown


def _resources(row: KernelResources) -> str:
    parts = (
        ("registers per thread", row.registers),
        ("B spilled stores", row.spill_store_bytes),
        ("B spilled loads", row.spill_load_bytes),
        ("B shared", row.shared_bytes),
        ("threads per block", row.threads_per_block),
    )
    return ", ".join(f"{'UNKNOWN' if value is None else value} {words}" for words, value in parts)


def _occupancy(row: Occupancy) -> str:
    if row.faults:
        return f"does not fit: {'; '.join(row.faults)}"
    if row.occupancy_pct is None:
        return f"occupancy: UNKNOWN ({', '.join(row.unknown)} not in the wiki)"
    binding = " and ".join(row.binding)
    return (
        f"occupancy: {row.blocks_per_unit} blocks, {row.warps_per_unit} warps per SM, "
        f"{row.occupancy_pct:.4g} %, bound by {binding}"
    )


def _methods(console: Console, found: Assembly, *, named: bool) -> None:
    rows = [m for m in found.methods if named or m.outcome == "confirmed"]
    if rows:
        console.print("methods", style="bold", markup=False)
    for row in rows:
        _method(console, row, {f.name: f.written for f in found.functions})
    if not named:
        rest = len(found.methods) - len(rows)
        console.print(
            f"{len(rows)} of {len(found.methods)} signatures are confirmed; "
            f"{rest} are refuted or not observable for {found.signature_arch} "
            "(name one with --method)",
            markup=False,
        )


def _method(console: Console, row: MethodReport, written: Mapping[str, str]) -> None:
    words = row.outcome.replace("_", " ")
    console.print(f"  {row.method}: {words}", style=_STYLES[row.outcome], markup=False)
    shown = [v for v in row.verdicts if v.outcome == row.outcome]
    for verdict in shown:
        console.print(f"    {written[verdict.function]}: {verdict.reason}", markup=False)
