"""Which chip and metric a label means, and whether it names another chip than its page's."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from kbs_ingest.audit.accounting import foreign
from kbs_ingest.audit.chipnames import ChipNames
from kbs_ingest.audit.claims import without_accumulator
from kbs_ingest.audit.knowledge import Page
from kbs_ingest.audit.model import Citation
from kbs_ingest.audit.vocabulary import joined, without_generation
from kbs_ingest.audit.words import Topic, of_rate, tokens, topic

_VERSION = re.compile(r"v\d{1,3}")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One way to read a label: chips, metric, unknown chip."""

    chips: frozenset[str]
    topic: Topic
    strange: str
    words: tuple[str, ...] = ()

    def of_heading(self) -> Reading:
        """A heading counts versions too: ``v12`` in it is no part."""
        return replace(self, strange="") if _VERSION.fullmatch(self.strange) else self

    def but(self, dies: frozenset[str]) -> Reading:
        """Beside the name of the part, that of its die names no other part."""
        return replace(self, strange="") if self.strange.casefold() in dies else self

    def foreign(self, page: Page) -> str:
        """A maker, family or architecture that is none of the page's, or nothing."""
        return foreign(self.words, page)


def _names_another(named: Reading, page: Page, *, loose: bool) -> str:
    """What a text names beside the page's chips, or nothing; ``loose``: only in their place."""
    if named.strange:
        return f"{named.strange.upper()}, of which the wiki has no page"
    speaks = ", ".join(sorted(page.chips))
    if named.chips and not named.chips & page.chips:
        return f"{', '.join(sorted(named.chips))}, the page speaks of {speaks}"
    if loose and (named.chips or any(word in page.words for word in named.words)):
        return ""
    word = named.foreign(page)
    return f"{word!r}, the page speaks of {speaks}" if word else ""


def read_labels(names: ChipNames, labels: Sequence[str], *, rate: bool = False) -> list[Reading]:
    """The label read from near to wide; a chip named wide holds for the near words too.

    ``rate``: its value is one of operations per second.
    """
    found = []
    for label in labels:
        words = tokens(joined(without_generation(without_accumulator(label))))
        words = of_rate(words) if rate else words
        chips, rest, strange = names.find(words)
        found.append(Reading(chips=chips, topic=topic(rest), strange=strange, words=tuple(rest)))
        if "pcie" in words and "pcie" not in rest:
            found.append(Reading(chips=frozenset(), topic=topic([*rest, "pcie"]), strange=""))
    return found or [Reading(chips=frozenset(), topic=topic(()), strange="")]


def conflict(names: ChipNames, citation: Citation, readings: Sequence[Reading], page: Page) -> str:
    """What the statement names that the page does not speak of.

    It is named by the label, by the remark behind it or its column, else by a heading above.
    """
    if not page.chips:
        return ""
    said = citation.said
    own = any(of.chips & page.chips for of in readings)
    readings = [of.but(page.dies) if own else of for of in readings]
    beside = read_labels(names, [text for text in (said.head, said.remark) if text])
    above = [of.of_heading() for of in read_labels(names, citation.headings)]
    for listed, where in ((readings, "label"), (beside, "statement"), (above, "heading")):
        named = next((of for of in listed if of.chips or of.strange or of.foreign(page)), None)
        if named is None:
            continue
        if told := _names_another(named, page, loose=where == "heading"):
            return f"the {where} names {told}"
        if where == "label":
            break
    return ""
