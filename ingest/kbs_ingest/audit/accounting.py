"""Accounting for the words of a statement: what the cited row does not explain is no proof.

A word is explained by the row (its name, metric, unit and basis), by the page (its chip's names,
maker, architecture and memory), or is one of the neutral words of ``vocabulary``. A word left
over that may make another statement of the number refuses it: a name, a number, a word that
tells one figure from another. Plain words left over are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from kbs_engine.units import QUANTITY, to_base
from kbs_ingest.audit.chipnames import ChipNames
from kbs_ingest.audit.knowledge import Fact, Page
from kbs_ingest.audit.model import Quantity, Said
from kbs_ingest.audit.unitwords import UNIT
from kbs_ingest.audit.values import NUMBER, alike, parse_quantity
from kbs_ingest.audit.vocabulary import (
    DENIALS,
    ENUMERATED,
    FOREIGN,
    FOREIGN_FORM,
    MEASURED_WORDS,
    MEMORY_KIND,
    NEUTRAL,
    OF_MAKER,
    TELLING,
    joined,
    without_generation,
)
from kbs_ingest.audit.words import DTYPES, concept_of, singular, tokens, without_genitive

_WORD = re.compile(r"[^\W_]+")
_QUANTITY = re.compile(
    rf"(?<![\w.,])(?P<quantity>(?:{NUMBER})\s*(?:{UNIT})(?!\w))(?:\s+(?:or|i\.?e\.?|that is)\b)?"
)
_PART_NUMBER = re.compile(r"(?!v\d)[a-z]+\d{2,}[a-z]*|\d{2,}[a-z]{1,3}")
_DATE = re.compile(r"\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b")
_SAFE = re.compile(
    r"\b(?:half|single|double|full)[\s-]precision\b|\b(?:limited|bounded?|capped) by\b"
    r"|\b(?:no|not|non|without|excluding|w/o)[\s-]+(?:structured[\s-]+)?(?:sparse|sparsity)\b"
    r"|\bstreaming (?=multiprocessor)"
    r"|\b1\s?[x×]\s|(?<!\d)2:4(?!\d)|\bup to\b|\b(?:at\s+)?most recent\b"
    r"|\b(?:both|one|each|single)[\s-]+(?:directions?|ways?)\b|\b(?:bi|uni)directional\b"
    r"|\bper[\s-]+(?:direction|way)\b",
    re.IGNORECASE,
)
"""Phrases that other questions judge, or that say nothing."""
_MANY = re.compile(
    r"(?<![\w.])(?!1\s?[x×])(?P<many>\d+\s?[x×*]|(?:two|three|four|eight|sixteen)\s)\s?(?=[A-Z])",
)
_LANES = re.compile(r"x\d{1,2}")
_EACH = re.compile(r"\b(?:each|every|per|whose)\b", re.IGNORECASE)
_LOOSE = frozenset(
    {"memory", "size", "capacity", "unit", "units", "type", "generation", "capability"}
)
"""Concepts that many a label names in passing."""
_OPENS = frozenset(":.;(|,–—-\"'")


class _Word(msgspec.Struct, frozen=True):
    """A word as written; ``opens`` where it begins a clause, so that a capital says nothing."""

    text: str
    opens: bool

    @property
    def low(self) -> str:
        return self.text.casefold()


class Account:
    """The words of one statement, set against rows of one page."""

    def __init__(self, said: Said, value: Quantity, page: Page, names: ChipNames) -> None:
        """Keep what is asked of every row."""
        self.said = said
        self.value = value
        self.page = page
        self.names = names

    def fault(self, fact: Fact) -> str:
        """Why the row does not carry the statement by its words, or nothing."""
        if self.said.second:
            return f"{self.said.second!r} stands beside it as another value"
        if many := self._multiple():
            return f"the statement says {many!r}, which L{fact.line} does not"
        said = self.said
        denies = said.then.casefold() in DENIALS
        if denies or (said.at_once and said.then.casefold() in MEASURED_WORDS - own_words(fact)):
            return f"{said.then!r} stands behind its citation"
        beside = (*self._earlier(), said.remark, said.aside, said.head)
        for part in (said.near, said.behind, *beside):
            for word in self._left(part, fact):
                if _is_unsaid_width(word, fact):
                    continue
                if self._refuses(word, near=part not in beside):
                    return f"the statement says {word.text!r}, which L{fact.line} does not explain"
        return ""

    def unexplained(self, fact: Fact) -> tuple[str, ...]:
        """Plain words near the value that nothing explains."""
        parts = (self.said.near.rpartition(": ")[2], self.said.behind)
        return tuple(dict.fromkeys(word.text for part in parts for word in self._left(part, fact)))

    def _multiple(self) -> str:
        """``8x`` before a name, where nothing speaks of each."""
        before = f"{self.said.earlier} {self.said.near}"
        found = _MANY.search(before)
        if found is None or _EACH.search(before, found.end()):
            return ""
        return found["many"].strip()

    def _earlier(self) -> list[str]:
        """Parts before the near one, but those on another chip than the one named there."""
        parts = self.said.earlier.split("; ")
        if not self.page.chips or not self._named(self.said.near) & self.page.chips:
            return parts
        return [part for part in parts if not (of := self._named(part)) or of & self.page.chips]

    def _named(self, text: str) -> frozenset[str]:
        return self.names.find(tokens(text))[0]

    def _refuses(self, word: _Word, *, near: bool) -> bool:
        """Whether an unexplained word makes another statement, or may; farther off fewer do."""
        low = word.low
        if low in TELLING or self._is_foreign(low):
            return True
        if self.page.facts is None:
            return False
        if not near:
            return bool(_PART_NUMBER.fullmatch(low))
        if (concept_of(low) and low not in _LOOSE) or any(char.isdigit() for char in low):
            return True
        if not word.text.isascii() or word.text.islower():
            return False
        return not word.opens or (len(low) > 1 and not word.text[1:].islower())

    def _is_foreign(self, low: str) -> bool:
        """Whether a word names hardware of which the page does not speak."""
        if not self.page.chips:
            return False
        if low in FOREIGN or self._is_of_another_maker(low):
            return True
        return bool(FOREIGN_FORM.fullmatch(low) or MEMORY_KIND.fullmatch(low))

    def _is_of_another_maker(self, low: str) -> bool:
        """Whether a word is another maker's for what the page's chips have too: a CU is no SM."""
        makers = [maker for maker in OF_MAKER if maker in self.page.words]
        return len(makers) == 1 and any(
            low in words for maker, words in OF_MAKER.items() if maker not in makers
        )

    def _left(self, text: str, fact: Fact) -> Iterator[_Word]:
        """Words of a part that are neither explained nor neutral."""
        words = self._words(self._stripped(text, fact))
        rate = self.value.kind == "ops_per_s"
        own = own_words(fact)
        lows = [word.low for word in words]
        for at, word in enumerate(words):
            low = word.low
            if (
                low in self.page.words | self.page.dies
                or singular(low) in own
                or low in own | fact.topic.words
            ):
                continue
            after, before = "".join(lows[at + 1 : at + 2]), lows[at - 1] if at else ""
            concept = concept_of(low, after, before)
            if rate and concept == "lane" and "cuda" in (low, before):
                concept = "vector"
            if self._is_of_another_maker(low):
                yield word
                continue
            if concept and self._has(concept, low, fact):
                continue
            if concept and low not in _LOOSE:
                yield word
                continue
            if low.isdigit() and (before in ENUMERATED or self._is_unit_count(low, after)):
                continue
            if low in NEUTRAL and low not in TELLING:
                continue
            yield word

    def _has(self, concept: str, low: str, fact: Fact) -> bool:
        """Whether the row speaks of a concept; a type may be that of an equal row beside it."""
        if MEMORY_KIND.fullmatch(low):
            return False
        if concept in fact.topic.concepts:
            return True
        if concept in ("boost", "base", "clock"):
            return fact.basis.clock_hz in self._clocks("base" if concept == "base" else "boost")
        return concept in DTYPES and any(
            concept in other.topic.concepts
            and (other.value, other.unit, other.basis.density)
            == (fact.value, fact.unit, fact.basis.density)
            for other in self.page.facts or ()
            if other.used
        )

    def _is_unit_count(self, low: str, after: str) -> bool:
        """Whether a number before ``SMs`` is the page's own count of them."""
        return concept_of(after) == "unit" and any(
            other.metric == "unit_count" and other.used and other.value == float(low)
            for other in self.page.facts or ()
        )

    def _clocks(self, kind: str) -> frozenset[float]:
        metrics = ("clock_base",) if kind == "base" else ("clock_boost", "tensor_clock")
        return frozenset(
            to_base(fact.value, fact.unit)
            for fact in self.page.facts or ()
            if fact.metric in metrics and isinstance(fact.value, float)
        )

    def _stripped(self, text: str, fact: Fact) -> str:
        """The text without what the row's remarks, the page's numbers and dates account for."""
        for remark in fact.basis.remarks:
            text = text.replace(remark, " ")
        text = _QUANTITY.sub(
            lambda found: " " if self._states(found["quantity"], fact) else found[0], text
        )
        text = without_generation(text, self.page.lines)
        text = without_genitive(joined(_DATE.sub(" ", text)))
        return _SAFE.sub(" ", text)

    def _states(self, text: str, fact: Fact) -> bool:
        """Whether a quantity is the value itself, the row's clock, or a figure of another kind."""
        told = parse_quantity(text)
        if told is None or told.number is None or alike(told, self.value):
            return told is not None
        if told.kind == self.value.kind:
            return False
        base = to_base(told.number, told.unit)
        if told.kind == "hz":
            clocks = self._clocks("boost") if fact.basis.clock_hz is None else ()
            return any(abs(base - hz) <= 1e-3 * hz for hz in (fact.basis.clock_hz, *clocks) if hz)
        return any(
            isinstance(other.value, float)
            and QUANTITY[other.unit] == told.kind
            and abs(base - to_base(other.value, other.unit)) <= 1e-9 * base
            for other in self.page.facts or ()
            if other.used
        )

    def _words(self, text: str) -> list[_Word]:
        """The words of a text that are no name of the page's chips."""
        found = list(_WORD.finditer(text))
        _, kept = self.names.read([word[0].casefold() for word in found], self.page.chips or None)
        return [
            _Word(word[0], not (before := text[: word.start()].rstrip()) or before[-1] in _OPENS)
            for word in (found[at] for at in kept)
        ]


def _is_unsaid_width(word: _Word, fact: Fact) -> bool:
    """``x16`` of a bus whose row tells no number of lanes: told, and not refused."""
    return bool(
        fact.metric.startswith("pcie_")
        and _LANES.fullmatch(word.low)
        and not any(_LANES.fullmatch(own) for own in tokens(f"{fact.words} {fact.basis}"))
    )


def own_words(fact: Fact) -> frozenset[str]:
    """The words of a row in the singular: name, metric, unit, basis, and that it is measured."""
    own = frozenset(map(singular, (*fact.topic.words, *tokens(f"{fact.unit} {fact.basis}"))))
    own |= {"die", "gcd"} if fact.basis.scope == "die" else frozenset()
    own |= {"host"} if fact.metric.startswith("pcie_") else frozenset()
    return own | MEASURED_WORDS if fact.measured else own


def foreign(words: Sequence[str], page: Page) -> str:
    """The first word that names hardware of which a page of chips does not speak, or nothing."""
    if not page.chips:
        return ""
    return next(
        (
            word
            for word in words
            if (word in FOREIGN or FOREIGN_FORM.fullmatch(word)) and word not in page.words
        ),
        "",
    )
