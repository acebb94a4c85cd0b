"""The tables of CSV output: every header with its rows, found by the names of the columns."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from kbs_engine.errors import ReportError
from kbs_ingest.readers.records import FEW, RowShape, header_part, joined
from kbs_ingest.readers.text import split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_KEY_COLUMNS: Final = frozenset({"Kernel Name", "Kernel_Name", "KernelName", "Metric Name"})
_FIELD_LIMIT: Final = 16_000_000


@dataclass
class Table:
    """One header with its rows; every row keeps the line on which it starts."""

    header: list[str]
    line: int
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def is_header(fields: Sequence[str]) -> bool:
    """Whether these are the column names of any CSV that is known here."""
    return len(fields) >= FEW - 1 and bool(_KEY_COLUMNS.intersection(fields))


def tables(text: str, path: Path) -> list[Table]:
    """Find every header and its rows; lines that belong to neither are noise.

    ReportError when a record is cut off, or has not as many fields as its header allows.
    """
    scan = _Scan(split_lines(text), path)
    while scan.at < len(scan.lines):
        scan.step()
    return scan.found


class _Scan:
    """Walk the lines, keeping the table that was begun last and the shape of its rows."""

    def __init__(self, lines: list[str], path: Path) -> None:
        self.lines = lines
        self.path = path
        self.at = 0
        self.found: list[Table] = []
        self.delimiter = ","
        self.shape: RowShape | None = None

    def step(self) -> None:
        """Take one record, or pass over one line of noise."""
        line = self.lines[self.at]
        if not (any(name in line for name in _KEY_COLUMNS) and self._header(line)):
            self._row(line)

    def _header(self, line: str) -> bool:
        """Begin a table where this is a header."""
        record, more = self._joined(header_part(line))
        mark = max(",;\t", key=record.count)
        header = [name.strip() for name in _fields(record, mark)]
        if not is_header(header):
            return False
        self.delimiter = mark
        quoted = record.startswith('"') and "ID" in header
        self.shape = RowShape(header, mark, quoted=quoted)
        self.found.append(Table(header, self.at + 1))
        self.at += 1 + more
        return True

    def _row(self, line: str) -> None:
        """Add a row where one begins here."""
        begun = self._begun(line, self.shape) if self.shape else ""
        if not begun:
            self.at += 1
            return
        record, more = self._joined(begun)
        self._add(self.found[-1], self.at + 1, _fields(record, self.delimiter))
        self.at += 1 + more

    def _begun(self, line: str, shape: RowShape) -> str:
        """What of a line begins a row; one that breaks off is judged with the lines after it."""
        begun = shape.start(line)
        if begun or not shape.breaks_off(line):
            return begun
        whole = joined(line, self.lines, self.at + 1)
        of_a_row = f'"{self.delimiter}"' in line if whole is None else shape.fits(whole[0])
        return line if of_a_row else ""

    def _joined(self, begun: str) -> tuple[str, int]:
        whole = joined(begun, self.lines, self.at + 1)
        if whole is None:
            raise ReportError(
                "a quoted field is not closed: the file is cut off or damaged here",
                where=f"{self.path}:{self.at + 1}",
                remedy="export it again and copy the whole file",
            )
        return whole

    def _add(self, table: Table, line: int, fields: list[str]) -> None:
        width = len(table.header)
        while len(fields) > width and not fields[-1]:
            fields.pop()
        if len(fields) > width:
            raise ReportError(
                f"the row has {len(fields)} fields, its header {width}",
                where=f"{self.path}:{line}",
                remedy="export it again with ncu --import … --csv, and do not edit the output",
            )
        if len(fields) >= min(width, FEW):
            table.rows.append((line, fields))


def _fields(record: str, delimiter: str) -> list[str]:
    csv.field_size_limit(_FIELD_LIMIT)
    try:
        return next(csv.reader([record.replace("\0", "")], delimiter=delimiter), [])
    except csv.Error:
        return []
