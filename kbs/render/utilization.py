"""Occupancy, waves and tile minimum as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbs_engine.occupancy import Occupancy
from kbs_engine.units import human_bytes, human_ns, human_rate
from kbs_engine.utilization import Tail, TileMinimum, Utilization

if TYPE_CHECKING:
    from rich.console import Console


def show_utilization(console: Console, chip: str, found: Utilization) -> None:
    """Limits with citations, then waves, tail and tile."""
    console.print(f"{chip}, grid of {found.grid} blocks", style="bold", markup=False)
    _occupancy(console, found.occupancy)
    if found.tail:
        _tail(console, found.tail)
    elif found.occupancy.fits is not False:
        console.print("  waves: UNKNOWN, because a limit is", markup=False)
    if found.tile:
        _tile(console, found.tile)
    for note in found.notes:
        console.print(f"  note: {note}", style="dim", markup=False)


def _occupancy(console: Console, row: Occupancy) -> None:
    for limit in row.limits:
        blocks = "UNKNOWN" if limit.blocks is None else f"{limit.blocks} blocks per SM"
        mark = "  <- binds" if limit.resource in row.binding else ""
        console.print(f"  {limit.resource}: {blocks} ({limit.how}){mark}", markup=False)
    for citation in row.citations:
        console.print(f"      {citation}", style="dim", markup=False)
    for fault in row.faults:
        console.print(f"  does not fit: {fault}", markup=False)
    if row.fits is None:
        names = ", ".join(row.unknown)
        console.print(f"  occupancy: UNKNOWN ({names} not in the wiki)", markup=False)
    elif row.occupancy_pct is not None:
        console.print(
            f"  occupancy: {row.blocks_per_unit} blocks, {row.warps_per_unit} warps per SM, "
            f"{row.occupancy_pct:.4g} %",
            markup=False,
        )


def _tail(console: Console, row: Tail) -> None:
    last = f"the last holds {row.last_wave_blocks} of {row.slots} blocks"
    console.print(
        f"  waves: {row.waves:.4g} ({row.full_waves} full"
        + (f"; {last}" if row.last_wave_blocks else "")
        + f"); {row.tail_share:.1%} of the slot time stays empty in the tail",
        markup=False,
    )
    console.print(
        f"  the busiest SM runs {row.rounds} blocks; the mean SM {row.balance:.1%} of that",
        markup=False,
    )


def _tile(console: Console, row: TileMinimum) -> None:
    console.print(
        f"  tile: {row.flops:.4g} FLOP, {human_bytes(row.bytes)}, "
        f"{row.intensity:.4g} FLOP/B before any reuse in L2",
        markup=False,
    )
    for roof in (row.compute, row.memory):
        if roof:
            console.print(f"      {roof.citation}", style="dim", markup=False)
    if row.tile_ns is None or row.compute_ns is None:
        console.print("  tile minimum: UNKNOWN", markup=False)
        return
    rounds = round(row.compute_ns / row.tile_ns)
    console.print(
        f"  tile minimum {human_ns(row.tile_ns)} on one SM at the cited peak × {rounds} on the "
        f"busiest SM = {human_ns(row.compute_ns)}",
        markup=False,
    )
    if row.memory:
        console.print(
            f"  compulsory traffic takes {human_ns(row.memory.time_ns)} at least", markup=False
        )
    if row.kernel_ns is not None and row.load_bytes_per_s is not None:
        console.print(
            f"  kernel minimum {human_ns(row.kernel_ns)}; the tiles must then load "
            f"{human_rate(row.load_bytes_per_s, 'B/s')}, from L2 where they share operands",
            markup=False,
        )
    if row.share is not None:
        console.print(f"  that is {row.share:.1%} of the measured time", markup=False)
