"""Cells with instances: ``total (FADD: 12; FMUL: 3)`` of --print-metric-instances details."""

from __future__ import annotations

import re
from typing import Final

from kbs_ingest.readers.numbers import Style, parse

WHOLE: Final = frozenset(
    {
        "launch__grid_size", "launch__block_size", "launch__thread_count", "launch__sm_count",
        "launch__registers_per_thread", "Grid Size", "Block Size", "Threads", "# SMs",
        "Registers Per Thread",
    }
)  # fmt: skip
"""Metrics that are whole numbers, so that a mark in them groups thousands."""

_INSTANCES: Final = re.compile(r"(?P<total>[^()]*)\((?P<parts>[^()]*)\)", re.DOTALL)
_OPCODE: Final = re.compile(r"[A-Z][A-Z0-9_.]*")


def split_instances(cell: str) -> tuple[str, str]:
    """The total and the list of instances; the whole cell and nothing where it has none."""
    match = _INSTANCES.fullmatch(cell.strip())
    total = match["total"].rstrip() if match else ""
    return (total, match["parts"]) if match and total else (cell, "")


def opcodes(parts: str, style: Style) -> dict[str, float]:
    """Counts by mnemonic; instances without names say nothing about opcodes."""
    counts: dict[str, float] = {}
    for part in parts.split(";"):
        name, colon, number = part.partition(":")
        if colon and _OPCODE.fullmatch(name.strip()):
            value = parse(number, style)
            if value is not None:
                counts[name.strip()] = value
    return counts
