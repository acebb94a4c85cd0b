"""What a rule answers, and what the rest of the house lends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from kbs_engine.gate.context import GateContext


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason why a version is not let through."""

    rule: str
    where: str
    """File (and line) in the run folder."""
    message: str
    remedy: str
    gives_up: int | None = None
    """The version that `kbs loop finalize` gives up, where nothing else helps."""

    def __str__(self) -> str:
        """One line: rule, place, reason, fix."""
        return f"{self.rule}: {self.where}: {self.message}; {self.remedy}"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of the gate. ``check`` yields a refusal for every fault it finds."""

    id: str
    title: str
    refuses: str
    """For docs/gate.md: what is refused, in one sentence."""
    check: Callable[[GateContext], Iterator[Refusal]]
    every: bool = False
    """Whether the final gate asks it again of every earlier version."""
    final: bool = False
    """Whether only the final gate asks it."""


class CitationFault(msgspec.Struct, frozen=True, kw_only=True):
    """A citation that does not hold, or a spec-like number without one."""

    where: str
    message: str


class Inspectors(msgspec.Struct, frozen=True, kw_only=True):
    """What needs knowledge that the engine does not have; None leaves its rule's part out.

    ``audit`` reads files and returns the citations that fail and the specs without one.
    ``unresolved`` says why a reference does not resolve, or returns an empty text.
    ``switches`` reads the method switches of a source: method id to on or off.
    ``looping`` says that the loop itself asks: it was told its journal again when the command
    began and writes what it knows, so that it is not told once more at every version.
    """

    audit: Callable[[Sequence[Path]], Sequence[CitationFault]] | None = None
    unresolved: Callable[[str], str] | None = None
    switches: Callable[[Path], Mapping[str, bool]] | None = None
    looping: bool = False
