"""The verdict on one citation, decided from the wiki's files alone.

The order of the questions is the rule that docs/cli.md states for ``changed`` and
``wrong_value``; the first that applies answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from kbs_engine.facts import Basis
from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.knowledge import Fact, Knowledge, Page
from kbs_ingest.audit.model import Anchor, Citation, Quantity, Verdict
from kbs_ingest.audit.prose import prose_facts
from kbs_ingest.audit.values import close, same
from kbs_ingest.audit.words import ChipNames, Topic, tokens, topic

NEAR = 0.25
"""A cited number this close to the one that now stands on the cited line was replaced by it."""
_KIB_METRICS = ("shared_", "l1_", "register", "constant_", "scalar_", "instruction_", "tensor_mem")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One way to read a label: chips, metric, unknown chip."""

    chips: frozenset[str]
    topic: Topic
    strange: str


class Judge:
    """Judges citations against one state of the wiki."""

    def __init__(self, knowledge: Knowledge) -> None:
        """Index chip names and values by metric."""
        self.knowledge = knowledge
        self.names = ChipNames(knowledge.names)
        self.prose: dict[str, tuple[Fact, ...]] = {}

    def judge(self, citation: Citation) -> Verdict:
        """Answer on one citation."""
        if citation.not_found:
            return Verdict(verdict="ok", detail="says that the wiki lacks the value")
        page = self.knowledge.resolve(citation.path)
        if isinstance(page, str):
            return Verdict(verdict="missing", detail=page)
        lines = _lines(page, citation.anchor)
        if citation.value is None:
            return _reference(page, lines, citation.anchor)
        readings = self._readings(citation.labels)
        if conflict := self._conflict(readings, page):
            return Verdict(verdict="wrong_chip", detail=conflict)
        if lines is None and citation.anchor == Anchor():
            return Verdict(verdict="missing", detail=_no_place(page, citation.anchor))
        return self._compare(citation, citation.value, page, lines, readings)

    def _readings(self, labels: Sequence[str]) -> list[Reading]:
        """The label read from near to wide; a chip named wide holds for the near words too."""
        found = []
        for label in labels:
            words = tokens(label)
            chips, rest, strange = self.names.find(words)
            found.append(Reading(chips=chips, topic=topic(rest), strange=strange))
            if "pcie" in words and "pcie" not in rest:
                found.append(Reading(chips=frozenset(), topic=topic([*rest, "pcie"]), strange=""))
        return found or [Reading(chips=frozenset(), topic=topic(()), strange="")]

    def _conflict(self, readings: Sequence[Reading], page: Page) -> str:
        named = next((reading for reading in readings if reading.chips or reading.strange), None)
        if named is None or not page.chips:
            return ""
        if named.strange:
            return f"the label names {named.strange.upper()}, of which the wiki has no page"
        if named.chips & page.chips:
            return ""
        speaks = ", ".join(sorted(page.chips))
        return f"the label names {', '.join(sorted(named.chips))}, the page speaks of {speaks}"

    def _compare(
        self,
        citation: Citation,
        value: Quantity,
        page: Page,
        lines: range | None,
        readings: Sequence[Reading],
    ) -> Verdict:
        facts = self._matching(page, readings)
        asked = next((r.topic.density for r in readings if r.topic.density), None)
        if asked:
            facts = [fact for fact in facts if fact.basis.density in (None, asked)]
        here = [fact for fact in facts if lines is not None and fact.line in lines]
        equal = [fact for fact in facts if _equal(value, fact)]
        if found := _first(equal, lines, used=True):
            return Verdict(verdict="ok", detail=_basis_note(found.basis))
        if lines is not None and self._says_in_prose(page, lines, value, readings):
            return Verdict(verdict="ok", detail="a sentence on the cited line says so")
        used = [fact for fact in equal if fact.used]
        if used:
            return _elsewhere(citation, page, used, here, asked)
        if equal:
            return _replaced(page, facts, equal[0])
        if facts and (other := self._other_chip(value, page, facts)):
            return Verdict(verdict="wrong_chip", detail=other)
        return self._different(value, page, lines, (facts, here), citation.anchor)

    def _matching(self, page: Page, readings: Sequence[Reading]) -> list[Fact]:
        """Facts of the page that the label speaks of, by its nearest words that fit any."""
        facts = page.facts if page.facts is not None else self._prose(page)
        if exact := _verbatim(facts, [reading.topic.words for reading in readings]):
            return exact
        for reading in readings:
            fitting = [
                fact
                for fact in facts
                if fact.topic.covers(reading.topic)
                and not (reading.topic.die and fact.basis.scope not in (None, "die"))
            ]
            if fitting:
                return fitting
        return []

    def _prose(self, page: Page) -> tuple[Fact, ...]:
        if page.path not in self.prose:
            self.prose[page.path] = prose_facts(page)
        return self.prose[page.path]

    def _says_in_prose(
        self, page: Page, lines: range, value: Quantity, readings: Sequence[Reading]
    ) -> bool:
        if page.facts is None or any(fact.line in lines for fact in page.facts):
            return False
        return any(
            fact.line in lines and fact.topic.covers(reading.topic) and _equal(value, fact)
            for fact in self._prose(page)
            for reading in readings
        )

    def _other_chip(self, value: Quantity, page: Page, facts: Sequence[Fact]) -> str:
        """The page of another chip that uses this very value for this metric."""
        best = _closest_topic(facts)
        for other in self.knowledge.pages.values():
            if other.facts is None or not other.chips or other.chips & page.chips:
                continue
            for fact in other.facts:
                alike = fact.used and fact.metric == best.metric and fact.value is not None
                if alike and fact.basis.density != "sparse" and _equal(value, fact):
                    return (
                        f"{value.text} is the value of {', '.join(sorted(other.chips))} "
                        f"(gpu-wiki/{other.path}:L{fact.line}); this page states {best.shown}"
                    )
        return ""

    def _different(
        self,
        value: Quantity,
        page: Page,
        lines: range | None,
        facts: tuple[Sequence[Fact], Sequence[Fact]],
        anchor: Anchor,
    ) -> Verdict:
        everywhere, here = facts
        if lines is None:
            return Verdict(verdict="missing", detail=_no_place(page, anchor))
        if not everywhere:
            return Verdict(verdict="missing", detail=_nothing(page))
        stated = [fact for fact in here if fact.used]
        for fact in stated:
            if _replaces(value, fact):
                return Verdict(
                    verdict="changed",
                    detail=f"L{fact.line} states {fact.shown} now",
                    line=fact.line,
                )
        best = stated[0] if stated else _closest_topic(everywhere)
        return Verdict(
            verdict="wrong_value",
            detail=f"L{best.line} states {best.shown}{_unit_note(value, best)}",
            line=best.line,
        )


def _verbatim(facts: Sequence[Fact], labels: Sequence[frozenset[str]]) -> list[Fact]:
    """Facts whose own words make up most of a label; the longest wording wins."""
    sized = [
        (len(own), fact)
        for fact in facts
        if (own := frozenset(tokens(fact.words)))
        and any(own <= label and 2 * len(own) > len(label) for label in labels)
    ]
    longest = max((size for size, _ in sized), default=0)
    return [fact for size, fact in sized if size == longest]


def _equal(value: Quantity, fact: Fact) -> bool:
    kib = fact.metric.startswith(_KIB_METRICS)
    return same(value, fact.value, fact.unit, kib=kib)


def _replaces(value: Quantity, fact: Fact) -> bool:
    """Whether the line now holds a number near the cited one, in a unit of the same kind."""
    if not isinstance(fact.value, float) or value.number is None:
        return value.is_unknown != (fact.value is None)
    if QUANTITY[value.unit] != QUANTITY[fact.unit]:
        return False
    if value.number == fact.value and value.unit != fact.unit:
        return False  # GiB for GB, TFLOPS for PFLOPS: a wrong unit, not a new value
    return close(to_base(value.number, value.unit), to_base(fact.value, fact.unit), NEAR)


def _lines(page: Page, anchor: Anchor) -> range | None:
    """The lines that an anchor names, or None when they are not there."""
    if anchor.first is not None:
        last = max(anchor.last or anchor.first, anchor.first)
        if anchor.first >= 1 and last <= len(page.lines):
            return range(anchor.first, last + 1)
        return None
    wanted = _slug(anchor.section)
    best: tuple[int, range] | None = None
    for title, first, last in page.sections:
        slug = _slug(title)
        if slug and wanted.startswith(slug) and (best is None or len(slug) > best[0]):
            best = (len(slug), range(first, last + 1))
    return best[1] if best else None


def _slug(text: str) -> str:
    return "".join(tokens(text))


def _nothing(page: Page) -> str:
    return f"gpu-wiki/{page.path} states nothing of this metric"


def _no_place(page: Page, anchor: Anchor) -> str:
    if anchor.first is not None:
        return f"gpu-wiki/{page.path} has {len(page.lines)} lines"
    if anchor.section:
        return f"gpu-wiki/{page.path} has no section {anchor.section!r}"
    return "the citation names neither line nor section"


def _reference(page: Page, lines: range | None, anchor: Anchor) -> Verdict:
    if lines is None:
        return Verdict(verdict="missing", detail=_no_place(page, anchor))
    return Verdict(verdict="ok", detail="names a place, no value to compare")


def _first(facts: Iterable[Fact], lines: range | None, *, used: bool) -> Fact | None:
    if lines is None:
        return None
    return next((fact for fact in facts if fact.line in lines and fact.used == used), None)


def _elsewhere(
    citation: Citation,
    page: Page,
    used: Sequence[Fact],
    here: Sequence[Fact],
    asked: str | None,
) -> Verdict:
    """The value stands on the page, but not on the cited line."""
    start = citation.anchor.first or 0
    fact = min(used, key=lambda row: (row.basis.density == "sparse", abs(row.line - start)))
    if fact.basis.density == "sparse" and asked is None:
        dense = next((row for row in here if row.metric == fact.metric and row.used), None)
        if dense is not None:
            return Verdict(
                verdict="wrong_value",
                detail=f"that is the sparse figure (L{fact.line}); L{dense.line} states "
                f"{dense.shown} {dense.basis.density or ''}".rstrip(),
                line=dense.line,
            )
    return Verdict(
        verdict="moved",
        detail=f"stands on gpu-wiki/{page.path}:L{fact.line} now",
        line=fact.line,
    )


def _replaced(page: Page, facts: Sequence[Fact], old: Fact) -> Verdict:
    used = next((fact for fact in facts if fact.used and fact.metric == old.metric), None)
    now = f"gpu-wiki/{page.path}:L{used.line} uses {used.shown}" if used else "no value is used"
    why = f" ({old.reason})" if old.reason else ""
    return Verdict(
        verdict="changed",
        detail=f"L{old.line} lists it under Disagreements{why}; {now}",
        line=used.line if used else None,
    )


def _closest_topic(facts: Sequence[Fact]) -> Fact:
    """The used fact with the fewest words that the label did not say."""
    return min(
        facts,
        key=lambda fact: (
            not fact.used,
            fact.basis.density == "sparse",
            len(fact.topic.concepts),
            fact.line,
        ),
    )


def _basis_note(basis: Basis) -> str:
    return f"{basis.density} figure" if basis.density == "sparse" else ""


def _unit_note(value: Quantity, fact: Fact) -> str:
    if value.number is None or not isinstance(fact.value, float):
        return ""
    if QUANTITY[value.unit] != QUANTITY[fact.unit] or (
        value.number == fact.value and value.unit != fact.unit
    ):
        return f", and {value.unit or 'a bare number'} is not {fact.unit or 'a count'}"
    return ""
