"""Of what part of the hardware a number holds: of the chip, or of each SM, block or thread."""

from __future__ import annotations

import re

from kbs_ingest.audit.knowledge import Fact
from kbs_ingest.audit.model import Citation
from kbs_ingest.audit.said import SENTENCE
from kbs_ingest.audit.vocabulary import joined
from kbs_ingest.audit.words import singular

_PARTS: dict[str, frozenset[str]] = {
    "unit": frozenset({"sm", "cu", "unit", "multiprocessor", "wgp"}),
    "block": frozenset({"block", "cta", "workgroup"}),
    "thread": frozenset({"thread", "lane", "wave", "wavefront", "warp", "workitem"}),
}
_ROW_PER = re.compile(r"\bper (?P<part>[A-Za-z]+)")
_WORD = re.compile(r"(?<![A-Za-z\d])[A-Za-z]+(?![A-Za-z\d])")
_COUNTS = re.compile(
    r"\b(?:SM|CU|unit|block|thread)[\s_-]+(?:counts?|clocks?|frequency|numbers?)\b"
)
"""Here the word counts the chip's parts, or is one of a name."""
_EACH = re.compile(r"\b(?:each|every|apiece|per)\b", re.IGNORECASE)
_ONE = re.compile(
    r"\b(?:per|each|every|an?|one|single)[\s-]+(?P<part>SM|CU|(?:streaming )?multiprocessor"
    r"|compute unit)(?:['’]s)?\b(?![\s-]+(?:count|clock))"
)


def spoken_parts(citation: Citation) -> frozenset[str]:
    """The parts that a statement, or the nearest heading over it, names one by one."""
    said = citation.said
    texts = (
        SENTENCE.split(f"{citation.labels[-1]} ")[-1] if citation.labels else "",
        said.near, said.earlier, said.behind, said.aside, said.head, said.remark,
        citation.behind, citation.after, *citation.headings[:1],
    )  # fmt: skip
    text = _COUNTS.sub(" ", joined(" ; ".join(texts)).replace("_", " "))
    words = {word.casefold() for word in _WORD.findall(text)}
    return frozenset(map(singular, words)) if _EACH.search(text) else frozenset(words)


def one_part(near: str) -> str:
    """The SM or CU of which a label speaks as of one of many, or nothing."""
    found = _ONE.search(near)
    return found["part"] if found else ""


def part_misfit(fact: Fact, spoken: frozenset[str], one: str) -> str:
    """Why a row of one part carries no statement on the whole, or the reverse, or nothing."""
    if not fact.metric:
        return ""
    row = _ROW_PER.search(fact.words)
    part = row["part"].casefold() if row else ""
    names = next((names for names in _PARTS.values() if part in names), frozenset())
    if names and not names & spoken:
        return f"L{fact.line} is per {row['part'] if row else ''}; the statement does not say so"
    if one and not names & _PARTS["unit"] and fact.basis.scope == "chip":
        return f"the statement speaks of one {one}, L{fact.line} is per chip"
    return ""
