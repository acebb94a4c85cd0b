"""Bytes to text, and text to lines."""

from __future__ import annotations

import codecs
import re
from typing import Final

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """``text`` without control characters, which a terminal would obey; breaks become blanks."""
    if text.isprintable():
        return text
    return _CONTROLS.sub("", re.sub(r"[\t\n\v\f\r\x85]+", " ", text)).strip()


def decode(data: bytes) -> str:
    """Decode by BOM, by the zero bytes of UTF-16, or as UTF-8 with bad bytes replaced."""
    return data.decode(encoding_of(data), "replace").lstrip("\ufeff")


def encoding_of(data: bytes) -> str:
    """The encoding that the BOM or the zero bytes of UTF-16 tell, else ``utf-8``."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return name
    head = data[:400]
    half = len(head) // 2
    if half > 1 and head[1::2].count(0) > half * 0.7:
        return "utf-16-le"
    if half > 1 and head[::2].count(0) > half * 0.7:
        return "utf-16-be"
    return "utf-8"


def as_utf8(data: bytes) -> bytes:
    """UTF-16 and UTF-32 as UTF-8; all else as it is, a BOM of UTF-8 included."""
    return decode(data).encode() if is_wide(data) else data


def is_wide(data: bytes) -> bool:
    """Whether a log begins as UTF-16 or UTF-32: two bytes alone that look like a BOM are noise."""
    return b"\0" in data[:400] and not encoding_of(data).startswith("utf-8")


def split_lines(text: str) -> list[str]:
    """Lines of a file, whatever ends them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
