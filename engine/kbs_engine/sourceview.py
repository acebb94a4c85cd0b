"""Counters by instruction and source line, and which lines are guilty of which cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

SCHEMA_VERSION = 1

NOT_COLLECTED: Final = (
    "source counters: not collected; ncu --section SourceCounters --import-source yes would"
)
NO_LINES: Final = "no line information in the binary: compile with -lineinfo"

KINDS: Final = (
    "global_sectors", "global_excess_sectors", "shared_wavefronts", "shared_excess_wavefronts",
    "executed", "samples",
)  # fmt: skip
"""Quantities of one instruction, besides samples by stall reason (``stall:<reason>``)."""

_COSTS: Final = ("samples", "global_sectors", "shared_wavefronts")

STALL: Final = "stall:"
_SAMPLING_NAMES: Final = {"no_instruction": "no_instructions"}
"""Stall reasons that the sampler spells in its own way."""
_CAUSE_KINDS: Final[dict[str, str]] = {
    "uncoalesced_global_load": "global_excess_sectors",
    "uncoalesced_global_store": "global_excess_sectors",
    "partial_sector_writes": "global_excess_sectors",
    "shared_bank_conflicts": "shared_excess_wavefronts",
}
LEAST_SHARE: Final = 0.05
"""A line with less than this of a quantity is not called guilty."""


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """One SASS instruction with what was counted at it; absent is not measured."""

    address: int
    sass: str = ""
    file: str | None = None
    line: int | None = None
    values: dict[str, float] = msgspec.field(default_factory=dict)


class SourceView(msgspec.Struct, frozen=True, kw_only=True):
    """Source counters of one launch."""

    instructions: tuple[Instruction, ...] = ()
    totals: dict[str, float] = msgspec.field(default_factory=dict)
    """Sums over all instructions of the kernel, those left out included."""
    texts: dict[str, dict[int, str]] = msgspec.field(default_factory=dict)
    """Source text by file and line, where the report holds it."""

    @property
    def collected(self) -> bool:
        """Whether the report has source counters for this launch.

        Instructions executed alone come with InstructionStats too, and tell nobody's guilt.
        """
        return any(name in self.totals for name in _COSTS)


class SourceLine(msgspec.Struct, frozen=True, kw_only=True):
    """A source line, or one instruction where the binary has no line information."""

    file: str | None
    line: int | None
    text: str
    values: dict[str, float]
    shares: dict[str, float]
    """Share (0–1) of each quantity of the whole kernel."""
    instructions: tuple[Instruction, ...]
    """Its instructions, the most sampled or most excessive first."""


class Guilt(msgspec.Struct, frozen=True, kw_only=True):
    """A line that stands behind a cause."""

    cause: str
    quantity: str
    share: float
    value: float
    line: SourceLine


def source_lines(view: SourceView) -> tuple[SourceLine, ...]:
    """Instructions grouped by source line, the worst line first."""
    groups: dict[tuple[str | None, int | None], list[Instruction]] = {}
    for one in view.instructions:
        key = (one.file, one.line) if one.file else (None, one.address)
        groups.setdefault(key, []).append(one)
    lines = [_line(view, group) for group in groups.values()]
    return tuple(sorted(lines, key=lambda line: (-_badness(line.shares), _place(line))))


def _line(view: SourceView, group: Sequence[Instruction]) -> SourceLine:
    first = group[0]
    values: dict[str, float] = {}
    for one in group:
        for name, value in one.values.items():
            values[name] = values.get(name, 0.0) + value
    shares = {
        name: value / view.totals[name] for name, value in values.items() if view.totals.get(name)
    }
    text = view.texts.get(first.file or "", {}).get(first.line or 0, "")
    ranked = sorted(
        group, key=lambda one: (-_badness(_shares(one.values, view.totals)), one.address)
    )
    return SourceLine(
        file=first.file,
        line=first.line,
        text=text,
        values=values,
        shares=shares,
        instructions=tuple(ranked),
    )


def _shares(values: Mapping[str, float], totals: Mapping[str, float]) -> dict[str, float]:
    return {name: value / totals[name] for name, value in values.items() if totals.get(name)}


def _badness(shares: Mapping[str, float]) -> float:
    """The largest share of what costs: samples, excess sectors, excess wavefronts."""
    names = ("samples", "global_excess_sectors", "shared_excess_wavefronts")
    return max((shares.get(name, 0.0) for name in names), default=0.0)


def _place(line: SourceLine) -> tuple[str, int]:
    return (line.file or "", line.line or line.instructions[0].address)


def quantity_of(cause: str) -> str | None:
    """What is counted by line for a cause; None when nothing is."""
    if cause in _CAUSE_KINDS:
        return _CAUSE_KINDS[cause]
    if cause.endswith("_stall"):
        reason = cause.removesuffix("_stall")
        return STALL + _SAMPLING_NAMES.get(reason, reason)
    return None


def guilty(
    view: SourceView, causes: Iterable[str], *, most: int = 3, operation: bool = True
) -> tuple[Guilt, ...]:
    """The lines that carry most of what each cause counts, worst first.

    Args:
        view: source counters of one launch.
        causes: symptom ids, causes and effects.
        most: lines per cause.
        operation: hold load causes to loads and store causes to stores, by opcode.
    """
    found = []
    for cause in causes:
        quantity = quantity_of(cause)
        total = view.totals.get(quantity, 0.0) if quantity else 0.0
        if not quantity or not total:
            continue
        ranked = source_lines(_only(view, cause) if operation else view)
        ranked = tuple(
            sorted(ranked, key=lambda line: (-line.values.get(quantity, 0.0), _place(line)))
        )
        for line in ranked[:most]:
            value = line.values.get(quantity, 0.0)
            if value / total >= LEAST_SHARE:
                found.append(
                    Guilt(
                        cause=cause, quantity=quantity, share=value / total, value=value, line=line
                    )
                )
    return tuple(found)


def _only(view: SourceView, cause: str) -> SourceView:
    """Loads for a cause about loads, stores for one about stores."""
    wanted = {
        "uncoalesced_global_load": ("LD", "LDG", "LDGSTS"),
        "uncoalesced_global_store": ("ST", "STG"),
        "partial_sector_writes": ("ST", "STG"),
    }.get(cause)
    if wanted is None:
        return view
    kept = tuple(one for one in view.instructions if opcode(one.sass) in wanted)
    return msgspec.structs.replace(view, instructions=kept)


def opcode(sass: str) -> str:
    """The mnemonic without predicate and suffixes: ``@!P0 LDG.E.128 R2, …`` is ``LDG``."""
    words = sass.split()
    while words and words[0].startswith("@"):
        words = words[1:]
    return words[0].split(".")[0].rstrip(";") if words else ""
