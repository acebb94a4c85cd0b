"""What makes a number another statement than the number: signs, comparisons, negations."""

from __future__ import annotations

import re

import msgspec

from kbs_ingest.audit.model import Quantity
from kbs_ingest.audit.unitwords import UNIT
from kbs_ingest.audit.values import NUMBER, alike, parse_quantity

_LEADING = re.compile(NUMBER)
_MARKUP = r"[\s*_`\"'(\[]*"
_SYMBOL = re.compile(rf"(?P<twist>[<>≤≥≪≫≠±]=?|&[lg][te];|!=|/=|~=/=){_MARKUP}$")
_SIGN = re.compile(r"(?:^|[\s:=|(\[*_`\"'~≈])(?P<twist>[-−])[*_`\"']*$")
"""A hyphen right before a number and behind no word; one with a space behind it is a dash."""
_OPENS = re.compile(rf"[:=|]{_MARKUP}(?P<twist>[-−])\s*$")
"""Behind a colon no space makes a dash of a sign."""
_WORDS = re.compile(
    r"\b(?P<twist>almost|nearly|barely|hardly|scarcely|used to be|formerly|previously|no longer"
    r"|just (?:under|over|below|above)|twice|thrice|half(?: of)?|double|triple|times"
    r"|(?:third|quarter|fifth|tenth|fraction|percent) of|% of"
    r"|not|never|no|isn['’]t|wasn['’]t|cannot be|n['’]t|without|minus|negative"
    r"|(?:more|less|fewer|greater|larger|smaller|higher|lower|faster|slower|other) than"
    r"|over|above|below|under|beyond|at least|exceed(?:s|ing)|except)"
    rf"(?:\s+(?:about|exactly|quite|really|only|even|the|a|around|approximately)){{0,2}}{_MARKUP}$",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(
    rf"(?<![\w.])(?P<first>\d[\d.,]*\s*(?:{UNIT}\s*)?)"
    r"(?P<twist>[x×·+]|\*(?!\*)|(?<=\d)[-–]|(?<=\s)(?:to|or|through)|\.{2,3}|…)\s*$"
)
"""``8 x 3.35 TB/s``, ``3.0-3.35 TB/s`` and ``3.0 to 3.35 TB/s``."""
_STRUCK = re.compile(r"<(/?(?:del|s|strike))>", re.IGNORECASE)
_NO_NUMBER = re.compile(rf"^(?P<word>[^\s:=|;,()]{{1,40}})\s+{UNIT}(?![\w/])")
_BAD_DIGITS = re.compile(r"^[+\-−]?\.?\d[\w.,+\-]*")


def twisted(value: Quantity, text: str) -> Quantity:
    """``value`` with what stands right before its number in ``text`` and twists it."""
    number = _LEADING.match(value.text) if value.number is not None else None
    at = text.rfind(number[0]) if number else -1
    if at < 0:
        return value
    before = text[:at]
    found = (
        _SYMBOL.search(before)
        or _SIGN.search(before)
        or _OPENS.search(before)
        or _WORDS.search(before)
        or _another_before(value, before)
    )
    return msgspec.structs.replace(value, twist=found["twist"]) if found else value


def _another_before(value: Quantity, before: str) -> re.Match[str] | None:
    """A factor, or another value of a range, that stands before the number."""
    found = _MULTIPLE.search(before)
    first = parse_quantity(found["first"]) if found else None
    return None if first is not None and first.unit and alike(value, first) else found


def no_number(text: str) -> Quantity | None:
    """A word with a unit, or digits that are no number, where a value is claimed; else None."""
    text = text.strip(" \t*_`\"'()[]")
    found = _NO_NUMBER.match(text)
    if found is None:
        digits = _BAD_DIGITS.match(text)
        return Quantity(number=None, word=digits[0], text=digits[0]) if digits else None
    return Quantity(number=None, word=found["word"], text=found[0])


def struck(segment: str, value: Quantity) -> str:
    """The mark that strikes the value out, or nothing."""
    before = segment[: segment.rfind(value.text.split(" ", 1)[0])]
    if before.count("~~") % 2:
        return "~~"
    tag = _STRUCK.findall(before)
    return f"<{tag[-1]}>" if tag and not tag[-1].startswith("/") else ""
