"""Numbers as a locale printed them.

ncu prints through the locale of the shell: ``1,234.5`` in one, ``1.234,5`` in another. One
file has one style, which the unmistakable numbers of that file decide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Style(NamedTuple):
    """The decimal mark of a file; the other mark groups thousands."""

    decimal: str
    proved: bool
    """False when no number of the file needed to be told apart."""


class AmbiguousError(ValueError):
    """The numbers of the file do not say which mark is which, or contradict each other."""


POINT: Final = Style(".", True)
_ABSENT: Final = frozenset({"", "n/a", "nan", "-nan", "no data", "-nan(ind)", "nan(ind)", "(!)",
                            "inf", "-inf", "+inf", "infinity", "-infinity", "null", "none",
                            "-", "unavailable", "not available"})  # fmt: skip
_SPACES: Final = re.compile(r"(?<=\d)[\s\u00a0\u2009\u202f'’](?=\d{3}(?!\d))")
_GROUP: Final = 3
_GROUPS: Final = {
    # the last group has three digits, earlier ones two in Indian style
    mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{2,3}})*{re.escape(mark)}\d{{3}}")
    for mark in ".,"
}
_SHAPE: Final = re.compile(r"[-+]?(?:\d[\d.,]*|[.,]\d+)(?:[eE][-+]?\d+)?")


def clean(text: str) -> str:
    """Strip blanks, grouping spaces and apostrophes, and the ``(!)`` of older releases."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return text
    if text.startswith("(!)"):
        text = text[3:].strip()
    return _SPACES.sub("", text)


def is_absent(text: str) -> bool:
    """Whether the cell says that there is no value: ``n/a``, ``nan``, ``inf``, empty."""
    return clean(text).lower() in _ABSENT


def style_of(values: Iterable[tuple[str, bool]]) -> Style:
    """Decide the decimal mark from (cell, whether the metric is a whole number) pairs.

    Raises AmbiguousError when the only evidence reads both ways, or both ways are proved.
    """
    proofs: dict[str, str] = {}
    doubtful = ""
    for text, whole in _different(values):
        token = clean(text)
        if not _SHAPE.fullmatch(token):
            continue
        mark = _proof(token.lower().partition("e")[0].lstrip("+-"), whole=whole)
        if mark is None:
            doubtful = doubtful or token * ("," in token)
        else:
            proofs.setdefault(mark, token)
            if len(proofs) > 1:
                break
    if len(proofs) > 1:
        pair = " and ".join(proofs.values())
        raise AmbiguousError(f"numbers are written in two styles, {pair}")
    if proofs:
        return Style(next(iter(proofs)), True)
    if doubtful:
        raise AmbiguousError(f"{doubtful} can be read with a decimal comma or in thousands")
    return Style(".", False)


def _different(values: Iterable[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    """The cells that hold a mark, each once: reports repeat most of theirs."""
    seen: set[tuple[str, bool]] = set()
    for cell in values:
        if ("," in cell[0] or "." in cell[0]) and cell not in seen:
            seen.add(cell)
            yield cell


def _proof(token: str, *, whole: bool) -> str | None:
    """The decimal mark that this token proves, or None when it reads both ways."""
    commas, points = token.count(","), token.count(".")
    if commas and points:
        return "," if token.rindex(",") > token.rindex(".") else "."
    mark, other, count = (",", ".", commas) if commas else (".", ",", points)
    head, _, tail = token.partition(mark)
    three = len(tail) == _GROUP
    if count > 1 or (whole and three):
        return other
    if not three or not head or len(head) > _GROUP or head.startswith("0"):
        return mark
    return None


def parse(text: str, style: Style) -> float | None:
    """Read one cell; None when absent. ValueError when it is no number in this style."""
    token = clean(text)
    if token.lower() in _ABSENT:
        return None
    if not _SHAPE.fullmatch(token):
        raise ValueError(f"{text!r} is not a number")
    group = "," if style.decimal == "." else "."
    whole, decimal, fraction = token.partition(style.decimal)
    if group in fraction or style.decimal in fraction:
        raise ValueError(f"{text!r} has two decimal marks")
    digits = whole.lstrip("+-")
    if group in digits and not _GROUPS[group].fullmatch(digits):
        raise ValueError(f"{text!r} is not grouped by thousands")
    plain = whole.replace(group, "") + ("." if decimal else "") + fraction
    return float(plain)  # infinite where no float holds it: flagged and left out later
