"""Label and value of what stands before a citation, in prose, bullets and table rows."""

from __future__ import annotations

import re

import msgspec

from kbs_ingest.audit.containers import Piece
from kbs_ingest.audit.lexicon import COUNTED
from kbs_ingest.audit.model import Quantity
from kbs_ingest.audit.twists import no_number, twisted
from kbs_ingest.audit.unitwords import UNIT
from kbs_ingest.audit.values import NUMBER, parse_quantity

_LAST_VALUE = re.compile(rf"(?<![\w.,])({NUMBER})\s*({UNIT})(?!\w)(?:(?<=/s)|(?<=S)|(?!/))")
_COUNTED = re.compile(rf"(?<![\w.,])(?P<number>{NUMBER})\s+(?P<what>{COUNTED})\s*$")
_CLAUSE = re.compile(r"[.;•!?]\s|,\s|\s[-–—]\s|:\s|[(\[]")
_BULLET = re.compile(r"^\s*(?:[-*+•>]|\d+[.)]|#+|//+|#)\s+")
_SHARE = re.compile(
    r"^.*\b(?:we|it|they|this|that|which|kernels?|runs?|version|v\d+)\b(?:[^.;:|]|\.\d)*?"
    r"\b(?:(?:is|are|was|were|runs?|ran|sits?|stands?) at|reach(?:es|ed)?|achieves?d?|sustains?"
    r"|sustained|gets?(?: to)?|got(?: to)?|hits?)\s+(?:only\s+|just\s+|about\s+|around\s+)?"
    r"\d[\d.]*\s*(?:%|percent)?\s+of\s+(?=[A-Za-z])",
    re.IGNORECASE,
)
"""``we are at 0.97 of``: what a kernel reached, of the value that follows."""
_STRUCK = re.compile(r"~~[^~]*~~")
_FIGURE = re.compile(rf"(?<![\w.,])(?:{NUMBER})\s*(?:{UNIT}(?!\w)|%)|^[\d\s.,#]*$")
"""A cell that holds a figure of its own, or only counts rows, is no part of a label."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What a citation is behind."""

    labels: tuple[str, ...] = ()
    """From near to wide."""
    value: Quantity | None = None
    spoken: str = ""
    """The label as it is accounted for, with its brackets."""
    head: str = ""
    """The heading of the value's column."""


def statement(piece: Piece, segment: str, at: int) -> Statement:
    """Read what stands before the citation that begins at ``at``."""
    if piece.row is not None and "|" in segment:
        return _in_table(piece, segment, at)
    label, value = split_value(segment)
    label = _SHARE.sub("", label) if " of " in label else label
    if piece.row is not None and value is not None:
        labels = (*_labels(label), *_context(piece, _column(piece, at), label))
        return Statement(labels=labels, value=value, spoken=_spoken(label))
    return Statement(labels=_labels(label), value=value, spoken=_spoken(label))


def split_value(segment: str) -> tuple[str, Quantity | None]:
    """Label and value; the value with what stands before its number and twists it."""
    label, value = _apart(segment)
    return label, twisted(value, segment) if value is not None else None


def _apart(segment: str) -> tuple[str, Quantity | None]:
    head, colon, tail = segment.rpartition(":")
    if not colon:
        head, colon, tail = segment.rpartition("=")
    if colon and (value := parse_quantity(tail)):
        return head, value
    if found := [*_LAST_VALUE.finditer(segment)][-1:]:
        return segment[: found[0].start()], parse_quantity(found[0][0]) or no_number(found[0][0])
    if counted := _COUNTED.search(segment):
        return f"{segment[: counted.start()]}{counted['what']}", parse_quantity(counted["number"])
    if colon and (value := no_number(tail)):
        return head, value
    return _bare(segment)


def _bare(segment: str) -> tuple[str, Quantity | None]:
    """A number that is all of a segment, or its last word."""
    if value := parse_quantity(segment):
        return "", value if value.number is not None else None
    words = segment.rsplit(None, 1)
    if len(words) > 1 and (value := parse_quantity(words[1])) and value.number is not None:
        return words[0], value
    return segment, None


def _in_table(piece: Piece, segment: str, at: int) -> Statement:
    parts = segment.split("|")
    last = _column(piece, at)
    cells = [
        (last - len(parts) + 1 + place, cell)
        for place, part in enumerate(parts)
        if (cell := _unmarked(part))
    ]
    if not cells:
        return Statement()
    column, cell = cells[-1]
    label, value = split_value(cell)
    if value is not None and plain(label):
        wide = " ".join(text for _, text in cells[:-1])
        return Statement(
            labels=(*_labels(label), f"{wide} {plain(label)}"),
            value=value,
            spoken=_spoken(label),
            head=_head(piece, column),
        )
    return _value_cell(piece, cells)


def _value_cell(piece: Piece, cells: list[tuple[int, str]]) -> Statement:
    """A row whose value stands in a cell of its own, with or without its unit's cell."""
    for start in range(len(cells) - 1, -1, -1):
        joined = " ".join(text for _, text in cells[start : start + 2])
        for text in (joined, cells[start][1]):
            value = parse_quantity(text)
            if value is not None and value.number is not None:
                return _cells(piece, cells, start, twisted(value, text))
    word = parse_quantity(cells[-1][1]) or no_number(cells[-1][1])
    if word is not None and len(cells) > 1:
        found = _cells(piece, cells, len(cells) - 1, word)
        return msgspec.structs.replace(found, labels=_labels(_joined(cells[:-1])))
    return Statement(labels=(_joined(cells),))


def _cells(piece: Piece, cells: list[tuple[int, str]], start: int, value: Quantity) -> Statement:
    column = cells[start][0]
    rest = _joined(cells[:start])
    spoken = ": ".join(text for _, text in cells[:start] if not _FIGURE.search(text))
    return Statement(
        labels=(*_labels(rest), *_context(piece, column, rest)),
        value=value,
        spoken=spoken,
        head=_head(piece, column),
    )


def _joined(cells: list[tuple[int, str]]) -> str:
    return " ".join(text for _, text in cells)


def _column(piece: Piece, at: int) -> int:
    """The column of a place in a row."""
    return piece.text[:at].count("|") - (1 if piece.text.lstrip().startswith("|") else 0)


def _head(piece: Piece, column: int) -> str:
    header = piece.row.header if piece.row is not None else ()
    return plain(header[column]) if 0 <= column < len(header) else ""


def _context(piece: Piece, column: int, label: str) -> tuple[str, ...]:
    """First cell and column heading, for values that stand in a grid."""
    if piece.row is None:
        return ()
    cells = [plain(cell) for cell in piece.text.strip().strip("|").split("|")]
    first = cells[0] if cells and column > 0 else ""
    near = f"{_head(piece, column)} {plain(label)}".strip()
    return tuple(text for text in (near, f"{first} {near}".strip()) if text)


def _labels(label: str) -> tuple[str, ...]:
    """The last clause, then everything."""
    whole = plain(label)
    if not whole:
        return ()
    last = _CLAUSE.split(f"{whole} ")[-1].strip()
    return (last, whole) if last and last != whole else (whole,)


def _spoken(label: str) -> str:
    """The label without marks, what is struck out, and the figures of other cells."""
    text = _STRUCK.sub(" ", _BULLET.sub("", label)).replace("*", "").replace("`", "")
    *wide, near = text.replace("\\|", " ").split("|")
    cells = [cell.strip() for cell in wide if not _FIGURE.search(cell)]
    return ": ".join((*cells, near.strip()))


def plain(text: str) -> str:
    """Without marks of emphasis and of a list."""
    return _unmarked(_BULLET.sub("", text))


def _unmarked(text: str) -> str:
    """Without marks of emphasis; a sign in front is kept."""
    return text.replace("*", "").replace("`", "").replace("\\|", "|").strip(" \t\"'|:_([")
