"""All faults of a wiki, told together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches

import msgspec

from kbs_engine.errors import WikiError

SHOWN = 20


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One broken rule: where, what, and what to do."""

    where: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        """One line, as an error shows it."""
        return str(WikiError(self.message, where=self.where, remedy=self.remedy))


class Faults:
    """Collects faults so that one run of ``kbs ingest`` shows them all."""

    def __init__(self) -> None:
        """Start with none."""
        self.found: list[Fault] = []
        self.broken: set[str] = set()
        """Citation paths of files that gave no record; faults elsewhere may come from them."""

    def add(self, where: str, message: str, remedy: str = "") -> None:
        """Note one fault; ``where`` is ``path:line``."""
        fault = Fault(where=where, message=message, remedy=remedy)
        if fault not in self.found:
            self.found.append(fault)

    def add_error(self, error: WikiError) -> None:
        """Note a fault that was raised."""
        self.add(error.where, error.message, error.remedy)

    def raise_if_any(self, place: Callable[[str], str] = str) -> None:
        """Raise one WikiError that lists the first faults; ``where`` is the first one's.

        Files that could not be read come first. ``place`` turns citation places into real ones.
        """
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda fault: (self.is_secondary(fault), _order(fault)))
        first, *others = (
            msgspec.structs.replace(fault, where=place(fault.where)) for fault in ordered
        )
        if not others:
            raise WikiError(first.message, where=first.where, remedy=first.remedy)
        shown = [first, *others][:SHOWN]
        hidden = len(self.found) - len(shown)
        lines = [f"{len(self.found)} faults, nothing is stored", *(f"  {fault}" for fault in shown)]
        if hidden:
            lines.append(f"  and {hidden} more")
        raise WikiError(
            "\n".join(lines), where=first.where, remedy="correct them and run the command again"
        )

    def is_secondary(self, fault: Fault) -> bool:
        """Whether the file of this fault was read, so that others come before it."""
        return fault.where.rpartition(":")[0] not in self.broken


def _order(fault: Fault) -> tuple[str, int, str]:
    path, _, line = fault.where.rpartition(":")
    return (path, int(line), fault.message) if line.isdigit() else (fault.where, 0, fault.message)


def near(word: str, known: Iterable[str]) -> str:
    """``did you mean …`` for a word that is not known, or an empty string."""
    close = get_close_matches(word, sorted(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(close)}?" if close else ""
