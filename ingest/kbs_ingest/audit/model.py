"""What an audit reads and what it answers."""

from __future__ import annotations

from typing import Literal

import msgspec

from kbs_engine.units import QUANTITY

VerdictName = Literal["ok", "moved", "changed", "missing", "wrong_value", "wrong_chip"]
VERDICTS: dict[VerdictName, str] = {
    "ok": "the cited line states this metric with this value",
    "moved": "the same page states it on another line",
    "changed": "the wiki holds another value now",
    "missing": "the file, the line or the metric is not there",
    "wrong_value": "the cited page never stated this value for this metric",
    "wrong_chip": "the value or the page belongs to another chip",
}
"""Every verdict with its meaning."""


class Quantity(msgspec.Struct, frozen=True, kw_only=True):
    """A value as written: a number with a unit, or a word."""

    number: float | None
    word: str = ""
    unit: str = ""
    """A unit of ``SPEC_UNITS``; empty for counts."""
    text: str = ""
    """Number and unit as they stand in the text."""

    twist: str = ""
    """What stands beside the number and makes it another statement: a sign, a comparison, a
    negation, a multiple or a second value."""

    @property
    def is_unknown(self) -> bool:
        """Whether the text says that the wiki lacks the value."""
        return self.number is None and self.word == "UNKNOWN"

    @property
    def kind(self) -> str:
        """What the unit measures."""
        return QUANTITY[self.unit]


class Anchor(msgspec.Struct, frozen=True, kw_only=True):
    """The place on a page: lines, or a section by name, or nothing."""

    first: int | None = None
    last: int | None = None
    section: str = ""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a statement, by where they stand."""

    near: str = ""
    """The part of the label that belongs to the value."""
    earlier: str = ""
    """Parts of the label before that one."""
    behind: str = ""
    """What stands between the value and its citation."""
    aside: str = ""
    """Cells of words between the value's cell and the citation's."""
    head: str = ""
    """The heading of the value's column."""
    remark: str = ""
    """A remark in brackets right behind the citation."""
    then: str = ""
    """The first word of what follows the citation."""
    at_once: bool = False
    """Nothing divides that word from the citation."""
    second: str = ""
    """Another value of the same kind beside the cited one."""


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """One citation as found. Without a value it is a plain reference to a line."""

    line: int
    text: str
    labels: tuple[str, ...]
    """What stands before the value, from the nearest words to the whole context."""
    value: Quantity | None
    path: str
    anchor: Anchor
    span: tuple[int, int] | None = None
    """Offsets of the line number in the file's text, where ``--fix`` may write."""
    not_found: bool = False
    """The form ``UNKNOWN (gpu-wiki not found)``."""
    beside: str = ""
    """What the same statement says between the value and its citation, and after it."""
    behind: str = ""
    """What stands right behind number and unit, up to the citation."""
    after: str = ""
    """What the same statement says after its citation."""
    said: Said = Said()
    headings: tuple[str, ...] = ()
    """Headings over the statement, the nearest first."""
    unread: str = ""
    """A number near the citation that was read as no value of it."""
    strange: str = ""
    """A digit or a letter of another script that looks like the ASCII one."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The answer on one citation; ``line`` is where a moved one stands now."""

    verdict: VerdictName
    detail: str
    line: int | None = None
    unexplained: tuple[str, ...] = ()
    """Words of an ok statement that neither the row nor its page explains."""
    predates: bool = False
    """A true UNKNOWN of its day, which the wiki answers by now: fails with --strict alone."""


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """One judged citation."""

    file: str
    line: int
    verdict: VerdictName
    text: str
    detail: str
    fixed: bool = False
    predates: bool = False


class Uncited(msgspec.Struct, frozen=True, kw_only=True):
    """A spec-like number without a citation, vague wording, or words that no cited row explains."""

    file: str
    line: int
    text: str
    kind: Literal["uncited", "vague", "unexplained"]


class FileReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one file holds; ``note`` tells why a file was not read."""

    file: str
    citations: tuple[Cited, ...] = ()
    uncited: tuple[Uncited, ...] = ()
    note: str = ""


class AuditReport(msgspec.Struct, frozen=True, kw_only=True):
    """All files, in order."""

    files: int
    citations: tuple[Cited, ...]
    uncited: tuple[Uncited, ...]
    notes: tuple[str, ...]

    def failed(self, *, strict: bool) -> bool:
        """Whether something is wrong that ``--fix`` has not mended."""
        bad = any(
            row.verdict != "ok" and not row.fixed and (strict or not row.predates)
            for row in self.citations
        )
        return bad or (strict and bool(self.uncited))
