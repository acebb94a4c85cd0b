"""What a statement says about its number, cut into the parts that an audit accounts for."""

from __future__ import annotations

import re

from kbs_ingest.audit.model import Quantity, Said
from kbs_ingest.audit.statement import Statement
from kbs_ingest.audit.unitwords import UNIT
from kbs_ingest.audit.values import NUMBER, alike, parse_quantity

SENTENCE = re.compile(r"[.;•!?]\s")
_PART = re.compile(
    r",\s|\s[-–—]+\s"
    r"|\s(?:against|versus|vs\.?|while|but|whereas|so|because|compared (?:to|with))\s",
    re.IGNORECASE,
)
OWN = re.compile(rf"(?<![\w.,]){NUMBER}\s*(?:{UNIT}(?![\w])|%)")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|we|it|they|runs?|ran|does|did|can|will|gets?|got|needs?"
    r"|moves?|holds?)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"^\s*[`\"'*_)\]]*\s*\((?P<inside>[^()\n]{0,200})\)")
_LINK = re.compile(r"^[`\"'*_]*\]\([^)\n]*\)|^[`\"'*_)\]>]+")
_THEN = re.compile(
    r"\s*(?P<mark>[,:—–-]*)\s*(?:(?:is|was|are|were|as|now|since|has been|have been)\s+){0,3}"
    r"(?P<word>[A-Za-z]+)"
)
_ITEM = re.compile(r",\s|\s[-–—]\s|\sand\s|\swith\s|\sagainst\s|\splus\s")
_COUNT = re.compile(rf"\s*{NUMBER}")
_PER = re.compile(r"^\s*(?:per|/)\s?[A-Za-z]")
_SAME = re.compile(r"(?:\bor|\bie|\bi\.e\.|\bthat is|=|,|\(|/)?\s*$")


def label_parts(label: str) -> tuple[str, str]:
    """The part of a label that belongs to the value, and what the same statement says before.

    A part with a number of its own is another item of a list, and so is what stands before it.
    """
    sentence = SENTENCE.split(f"{label} ")[-1]
    parts = _split(sentence, _PART)
    near = parts.pop() if parts else ""
    earlier: list[str] = []
    for part in reversed(parts):
        if OWN.search(part) or _VERB.search(part) or "<-" in part:
            break
        earlier.insert(0, part)
    return near, "; ".join(earlier)


def said_of(told: Statement, behind: str, after: str, value: Quantity, link: str) -> Said:
    """The parts of a statement, with the text of the ``link`` to its place.

    ``second`` is another value of the same kind beside its own.
    """
    near, earlier = label_parts(told.spoken)
    cell, *others = behind.split("|")
    kept, second = _behind(SENTENCE.split(f"{cell.replace(';', '; ')} ")[0], value)
    after = _LINK.sub("", after)
    remark = _REMARK.match(after)
    then = _THEN.match(after)
    return Said(
        near=near,
        earlier=earlier,
        behind=kept,
        aside=" ".join(part for part in others if not re.search(r"\d", part)),
        head=told.head,
        remark=f"{remark['inside'] if remark else ''} {link}".strip(),
        then=then["word"] if then else "",
        at_once=then is not None and not then["mark"],
        second=second,
    )


def _split(text: str, pattern: re.Pattern[str]) -> list[str]:
    """The parts between matches that stand in no brackets."""
    parts = []
    start = 0
    for found in pattern.finditer(text):
        head = text[: found.start()]
        if head.count("(") <= head.count(")"):
            parts.append(text[start : found.start()])
            start = found.end()
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _behind(text: str, value: Quantity) -> tuple[str, str]:
    """What is said of the value behind it, up to the next item, and a second value or nothing."""
    kept = ""
    rest = text
    while found := OWN.search(rest):
        head = rest[: found.start()]
        other = parse_quantity(found[0])
        tail = rest[found.end() :]
        if other is not None and alike(value, other):
            kept, rest = kept + _SAME.sub(" ", head), tail
            continue
        items = list(_ITEM.finditer(head))
        if other is not None and other.kind == value.kind and not _PER.match(tail):
            return kept + head, found[0]
        return (kept + head[: items[-1].start()], "") if items else (kept + rest, "")
    counted = (item for item in _ITEM.finditer(rest) if _COUNT.match(rest, item.end()))
    end = next((item.start() for item in counted), len(rest))
    return kept + rest[:end], ""
