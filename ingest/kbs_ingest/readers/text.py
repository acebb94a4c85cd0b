"""Bytes to text, and the records of CSV output among everything else that a run prints."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kbs_engine.errors import ReportError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_KEY_COLUMNS: Final = frozenset({"Kernel Name", "Kernel_Name", "KernelName", "Metric Name"})
_FEW: Final = 5
"""A row with fewer fields than this is something else that was printed between the rows."""
_QUOTED_ROW: Final = re.compile(r'"\d*"[,;\t]')
_ROW: Final = re.compile(r'(?:"\d*"|\d*|"?KERNEL_DISPATCH"?)\s*[,;\t]')
_LATE_ROW: Final = re.compile(r'"\d+"[,;\t]"\d+"[,;\t]"')
_LATE_HEADER: Final = re.compile(r'"ID"[,;\t]"')
_MAX_LINES_IN_RECORD: Final = 500
_FIELD_LIMIT: Final = 16_000_000
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """``text`` without control characters, which a terminal would obey; breaks become blanks."""
    if text.isprintable():
        return text
    return _CONTROLS.sub("", re.sub(r"[\t\n\v\f\r\x85]+", " ", text)).strip()


@dataclass
class Table:
    """One header with its rows; every row keeps the line on which it starts."""

    header: list[str]
    line: int
    quoted: bool = False
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


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


def is_header(fields: Sequence[str]) -> bool:
    """Whether these are the column names of any CSV that is known here."""
    return len(fields) >= _FEW - 1 and bool(_KEY_COLUMNS.intersection(fields))


def tables(text: str, path: Path) -> list[Table]:
    """Find every header and its rows; lines that belong to neither are noise.

    ReportError when a record is cut off, or has not as many fields as its header allows.
    """
    found: list[Table] = []
    delimiter = ","
    for line, record in _records(text, path):
        if any(name in record for name in _KEY_COLUMNS):
            mark = max(",;\t", key=record.count)
            header = [name.strip() for name in _fields(record, mark)]
            if is_header(header):
                delimiter = mark
                quoted = record.startswith('"') and "ID" in header
                found.append(Table(header, line, quoted))
                continue
        if found and (_QUOTED_ROW if found[-1].quoted else _ROW).match(record):
            _add(found[-1], line, _fields(record, delimiter), path)
    return found


def _add(table: Table, line: int, fields: list[str], path: Path) -> None:
    width = len(table.header)
    while len(fields) > width and not fields[-1]:
        fields.pop()
    if len(fields) > width:
        raise ReportError(
            f"the row has {len(fields)} fields, its header {width}",
            where=f"{path}:{line}",
            remedy="export it again with ncu --import … --csv, and do not edit the output",
        )
    if len(fields) >= min(width, _FEW):
        table.rows.append((line, fields))


def _fields(record: str, delimiter: str) -> list[str]:
    csv.field_size_limit(_FIELD_LIMIT)
    try:
        return next(csv.reader([record.replace("\0", "")], delimiter=delimiter), [])
    except csv.Error:
        return []


def _records(text: str, path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, record) of what may be a CSV record; quoted line breaks are joined."""
    lines = split_lines(text)
    number = 0
    while number < len(lines):
        start, record = number + 1, _strip_noise(lines[number])
        number += 1
        if not record:
            continue
        while record.count('"') % 2:
            if number >= len(lines) or number - start > _MAX_LINES_IN_RECORD:
                raise ReportError(
                    "a quoted field is not closed: the file is cut off or damaged here",
                    where=f"{path}:{start}",
                    remedy="export it again and copy the whole file",
                )
            record += "\n" + lines[number]
            number += 1
        yield start, record


def _strip_noise(line: str) -> str:
    """The part of a line that may be a record: a header or a row, or nothing."""
    if _ROW.match(line):
        return line
    late = _LATE_HEADER.search(line) or _LATE_ROW.search(line)
    if late:
        return line[late.start() :]
    return line if any(name in line for name in _KEY_COLUMNS) else ""
