"""The two marks: ``kbs:tunable [NAME:] value, value`` and ``kbs:method id``."""

from __future__ import annotations

import re

import msgspec

from kbs_backends.variants.literals import read_listed
from kbs_backends.variants.records import Comment, MarkError, Value

_MARK = re.compile(r"kbs:(tunable|method)\b(.*)\Z", re.DOTALL)
_NAMED = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:(?!:)(.*)\Z", re.DOTALL)
_METHOD = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")
_ITEM = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,"']+?)\s*(?:,|\Z)""")


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A mark as it is written."""

    line: int
    alone: bool
    method: str = ""
    """Empty for a tunable."""
    name: str = ""
    """The name it speaks of, where the mark says it."""
    values: tuple[Value, ...] = ()


def read_mark(comment: Comment, where: str) -> Mark | None:
    """Return the mark that a comment is, or None for any other comment.

    Raises:
        MarkError: It begins as a mark and cannot be read as one.
    """
    match = _MARK.match(comment.text.strip())
    if match is None:
        return None
    place = f"{where}:{comment.line}"
    name, rest = "", match[2].strip()
    if named := _NAMED.match(rest):
        name, rest = named[1], named[2].strip()
    if match[1] == "method":
        if not _METHOD.match(rest):
            raise MarkError(
                f"kbs:method names no method id: {rest!r}",
                where=place,
                remedy="write one id in snake_case, such as: kbs:method smem_padding",
            )
        return Mark(line=comment.line, alone=comment.alone, method=rest, name=name)
    values = _values(rest, place)
    return Mark(line=comment.line, alone=comment.alone, name=name, values=values)


def _values(text: str, place: str) -> tuple[Value, ...]:
    values: list[Value] = []
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        value = read_listed(match[1]) if match else None
        if match is None or value is None:
            raise MarkError(
                f"kbs:tunable lists what is no value: {text[position:].strip()!r}",
                where=place,
                remedy="separate numbers, True/False, words or quoted strings by commas",
            )
        values.append(value)
        position = match.end()
    if not values:
        raise MarkError(
            "kbs:tunable lists no values",
            where=place,
            remedy="write what it may be, such as: kbs:tunable 32, 64, 128",
        )
    return tuple(values)
