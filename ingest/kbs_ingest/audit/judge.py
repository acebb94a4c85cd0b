"""The verdict on one citation, decided from the wiki's files alone.

The order of the questions is the rule that docs/cli.md states for ``changed`` and
``wrong_value``; the first that applies answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from kbs_ingest.audit.accounting import Account
from kbs_ingest.audit.answers import (
    another,
    basis_note,
    by_value,
    closest_topic,
    coarse,
    different_unit,
    equal,
    first,
    is_malformed,
    lines_of,
    no_place,
    nothing,
    passed,
    reference,
    replaces,
    unit_note,
    unit_slip,
    verbatim,
)
from kbs_ingest.audit.chipnames import ChipNames
from kbs_ingest.audit.claims import Claim, claim_of
from kbs_ingest.audit.knowledge import Fact, Knowledge, Page
from kbs_ingest.audit.model import Anchor, Citation, Quantity, Verdict
from kbs_ingest.audit.prose import prose_facts
from kbs_ingest.audit.readings import Reading, conflict, read_labels
from kbs_ingest.audit.values import parse_quantity, rounded
from kbs_ingest.audit.words import tokens


class Judge:
    """Judges citations against one state of the wiki."""

    def __init__(self, knowledge: Knowledge) -> None:
        """Index chip names and values by metric."""
        self.knowledge = knowledge
        self.names = ChipNames(knowledge.names)
        self.prose: dict[str, tuple[Fact, ...]] = {}

    def judge(self, citation: Citation) -> Verdict:
        """Answer on one citation."""
        if citation.strange:
            return Verdict(
                verdict="wrong_value",
                detail=f"{citation.strange!r} is of another script; write it in ASCII",
            )
        return self._judge(citation)

    def _judge(self, citation: Citation) -> Verdict:
        """Answer on one citation in plain letters and digits."""
        if citation.not_found:
            return self._lacking(citation)
        page = self.knowledge.resolve(citation.path)
        if isinstance(page, str):
            return Verdict(verdict="missing", detail=page)
        lines = lines_of(page, citation.anchor)
        if citation.value is None:
            return self._reference(citation, page, lines)
        rate = citation.value.kind == "ops_per_s"
        readings = read_labels(self.names, citation.labels, rate=rate)
        if named := conflict(self.names, citation, readings, page):
            return Verdict(verdict="wrong_chip", detail=named)
        if lines is None and (citation.anchor == Anchor() or is_malformed(citation.anchor)):
            return Verdict(verdict="missing", detail=no_place(page, citation.anchor))
        found = self._compare(citation, citation.value, page, lines, readings)
        twisted = found.verdict in ("ok", "moved") and citation.value.twist
        return another(citation.value) if twisted else found

    def _reference(self, citation: Citation, page: Page, lines: range | None) -> Verdict:
        """The answer on a place without a value; a number near it on a page of specs counts."""
        words = tokens(citation.text)
        number = parse_quantity(citation.unread) if citation.unread else None
        if number is None or page.facts is None:
            return reference(page, lines, "", citation.anchor)
        rest = self.names.find(words)[1]
        part_of_name = not number.unit and citation.unread not in rest
        stated = any(
            lines is not None and fact.line in lines and equal(number, fact) for fact in page.facts
        )
        unread = "" if part_of_name or stated else citation.unread
        return reference(page, lines, unread, citation.anchor)

    def _lacking(self, citation: Citation) -> Verdict:
        """Whether the wiki still lacks what the statement says it lacks."""
        reading = read_labels(self.names, citation.labels)[-1]
        stated = self._meant(citation, reading)
        if stated and all(fact.value is not None for _, fact in stated):
            best = closest_topic([fact for _, fact in stated])
            page = next(page for page, fact in stated if fact is best)
            return Verdict(
                verdict="changed",
                detail=f"gpu-wiki/{page.path}:L{best.line} states {best.shown} now; "
                "the statement predates the page",
                line=best.line,
                predates=True,
            )
        return Verdict(verdict="ok", detail="says that the wiki lacks the value")

    def _meant(self, citation: Citation, reading: Reading) -> list[tuple[Page, Fact]]:
        """Rows of the one chip named that a label without a value can mean."""
        if len(reading.chips) != 1 or reading.strange:
            return []
        unknown = Quantity(number=None, word="UNKNOWN", text="UNKNOWN")
        rows = [
            (page, fact, Account(citation.said, unknown, page, self.names))
            for page in self.knowledge.pages.values()
            if page.facts and page.chips & reading.chips and "hardware/" in page.path
            for fact in page.facts
            if fact.used and fact.basis.density != "sparse" and fact.basis.scope != "die"
            if fact.topic.covers(reading.topic)
        ]
        plain = [row for row in rows if not row[2].fault(row[1]) and not row[2].unexplained(row[1])]
        if not plain and len({fact.metric for _, fact, _ in rows}) > 1:
            return []
        said = frozenset(self.names.find(tokens(citation.said.near))[1])
        meant = [row for row in plain if said <= row[1].topic.words] or plain or rows
        return [(page, fact) for page, fact, _ in meant]

    def _compare(
        self,
        citation: Citation,
        value: Quantity,
        page: Page,
        lines: range | None,
        readings: Sequence[Reading],
    ) -> Verdict:
        facts = self._matching(page, readings)
        claim = claim_of(citation, Account(citation.said, value, page, self.names))
        asked = next((r.topic.density for r in readings if r.topic.density), None)
        if asked and not (asked == "dense" and claim.sparse):
            facts = [fact for fact in facts if fact.basis.density in (None, asked)]
        here = [fact for fact in facts if lines is not None and fact.line in lines]
        alike = [fact for fact in facts if equal(value, fact)]
        rounds = [fact for fact in facts if rounded(value, fact.value, fact.unit)]
        if found := first(alike, lines, claim):
            return passed(basis_note(found.basis), found, claim)
        if found := first(rounds, lines, claim):
            return passed(f"rounded; L{found.line} states {found.shown}", found, claim)
        if lines is not None and self._says_in_prose(page, lines, value, readings, claim):
            return Verdict(verdict="ok", detail="a sentence on the cited line says so")
        return (
            by_value(page, facts, (alike, rounds), here, claim, citation.anchor)
            or self._of_another(value, page, facts, here)
            or self._different(value, page, lines, (facts, here), citation.anchor)
        )

    def _of_another(
        self, value: Quantity, page: Page, facts: Sequence[Fact], here: Sequence[Fact]
    ) -> Verdict | None:
        """The digits of the cited line in a wrong unit, or the value of another chip."""
        slip = next((fact for fact in here if fact.used and unit_slip(value, fact)), None)
        if slip is not None:
            return different_unit(value, slip)
        if facts and (other := self._other_chip(value, page, facts)):
            return Verdict(verdict="wrong_chip", detail=other)
        return None

    def _matching(self, page: Page, readings: Sequence[Reading]) -> list[Fact]:
        """Facts of the page that the label speaks of, by its nearest words that fit any."""
        facts = page.facts if page.facts is not None else self._prose(page)
        if exact := verbatim(facts, [reading.topic.words for reading in readings]):
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
        self,
        page: Page,
        lines: range,
        value: Quantity,
        readings: Sequence[Reading],
        claim: Claim,
    ) -> bool:
        if page.facts is None or any(fact.line in lines for fact in page.facts):
            return False
        return any(
            fact.line in lines
            and fact.topic.covers(reading.topic)
            and equal(value, fact)
            and not claim.misfit(fact)
            for fact in self._prose(page)
            for reading in readings
        )

    def _other_chip(self, value: Quantity, page: Page, facts: Sequence[Fact]) -> str:
        """The page of another chip that uses this very value for this metric."""
        best = closest_topic(facts)
        for other in self.knowledge.pages.values():
            if other.facts is None or not other.chips or other.chips & page.chips:
                continue
            for fact in other.facts:
                alike = fact.used and fact.metric == best.metric and fact.value is not None
                if alike and fact.basis.density != "sparse" and equal(value, fact):
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
            return Verdict(verdict="missing", detail=no_place(page, anchor))
        if not everywhere:
            return Verdict(verdict="missing", detail=nothing(page))
        stated = [fact for fact in here if fact.used]
        for fact in stated:
            if rounded(value, fact.value, fact.unit, digits=1):
                return coarse(value, fact)
            if replaces(value, fact):
                return Verdict(
                    verdict="changed",
                    detail=f"L{fact.line} states {fact.shown} now",
                    line=fact.line,
                )
        best = stated[0] if stated else closest_topic(everywhere)
        elsewhere = "" if stated else "the cited line states nothing of this metric; "
        return Verdict(
            verdict="wrong_value",
            detail=f"{elsewhere}L{best.line} states {best.shown}{unit_note(value, best)}",
            line=best.line,
        )
