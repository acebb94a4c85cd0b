"""Where a record of a CSV begins among everything else that a run prints.

Rows are told from noise by their header: a number stands (or nothing, in the row of units) in
the column of the launch id, wherever that column is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_IDS: Final = (
    "ID", "Dispatch_Id", "Dispatch_ID", "Index", "Correlation_Id", "Correlation_ID", "Process ID",
    "Invocations",
)  # fmt: skip
"""Columns that hold whole numbers; the first that a header has tells its rows."""
_QUOTED: Final = r'"(?:[^"]|"")*"'
_NUMBER: Final = r"[-+.\deE]*"
_NEVER: Final = re.compile(r"(?!)")
_LATE_HEADER: Final = re.compile(r'"ID"[,;\t]"')
_LATE_ROW: Final = re.compile(r'"\d+"[,;\t]"\d+"[,;\t]"')
_AS_PRINTED: Final = ["ID", "Process ID"]
_DELIMITERS: Final = (",", ";", "\t")
FEW: Final = 5
"""A row with fewer fields than this is something else that was printed between the rows."""
MAX_LINES: Final = 500
"""Lines that one record takes after its first, at most."""


class RowShape:
    """What the rows under one header look like."""

    def __init__(self, header: Sequence[str], delimiter: str, *, quoted: bool) -> None:
        """Learn the columns.

        Args:
            header: names of the columns.
            delimiter: what stands between the cells.
            quoted: whether the cells stand in quotes, as ncu prints them. Then a row whose
                numbers do not, as some programs save it, must have all of its cells.
        """
        place = next((list(header).index(name) for name in _IDS if name in header), None)
        mark = re.escape(delimiter)
        bare = rf"(?:{_QUOTED}|[^\"{mark}\n][^{mark}\n]*|)"
        cell, digits = (_QUOTED, r'"\d*"') if quoted else (bare, r'(?:"\d*"|\d*)[ \t]*')
        any_cell = f"(?:{_QUOTED}|{_NUMBER})" if quoted else bare
        self._row = _NEVER
        if place is not None:
            self._row = re.compile(rf"(?:{cell}{mark}){{{place}}}{digits}(?:{mark}|\s*$)")
        self._open = re.compile(rf'(?:{any_cell}{mark}){{0,{len(header) - 1}}}"(?:[^"]|"")*')
        self._whole = re.compile(rf"(?:{any_cell}{mark}){{{len(header) - 1}}}{any_cell}\s*$")
        self._part = re.compile(rf"(?:{_QUOTED}{mark}){{{FEW - 1},}}(?:{_QUOTED})?\s*$")
        self._quoted = quoted
        self._as_printed = list(header[:2]) == _AS_PRINTED

    def start(self, line: str) -> str:
        """The part of a line that begins a row, or nothing.

        ncu prints its rows behind whatever stands in the line already; its id comes first.
        """
        if self.fits(line):
            return line
        late = _LATE_ROW.search(line) if self._as_printed else None
        return line[late.start() :] if late else ""

    def breaks_off(self, line: str) -> bool:
        """Whether a line ends within a quoted cell: the row that it may be of goes on."""
        return bool(self._open.fullmatch(line))

    def fits(self, record: str) -> bool:
        """Whether a record has a number, or nothing, where the id belongs, or is one by its cells.

        Those are as many as the header's, or some in quotes: a damaged id or the end of a file
        that was cut off, for the reader to refuse.
        """
        if self._row.match(record):
            return True
        if not self._quoted:
            return bool(self._whole.match(record))
        return '"' in record and bool(self._whole.match(record) or self._part.match(record))


def header_part(line: str) -> str:
    """A header line without what was printed before it: a quote that no delimiter goes before."""
    late = _LATE_HEADER.search(line)
    if late and late.start() and line[late.start() - 1] not in _DELIMITERS:
        return line[late.start() :]
    return line


def joined(first: str, lines: Sequence[str], at: int) -> tuple[str, int] | None:
    """A record that begins with ``first``, with the line breaks of its quoted cells.

    Returns:
        The record and how many of ``lines`` it takes from ``at`` on; None when a quoted cell is
        not closed within the lines that a record may have.
    """
    quotes, parts = first.count('"'), [first]
    if quotes % 2 == 0:
        return first, 0
    for line in lines[at : at + MAX_LINES]:
        if quotes % 2 == 0:
            break
        quotes += line.count('"')
        parts.append(line)
    return None if quotes % 2 else ("\n".join(parts), len(parts) - 1)
