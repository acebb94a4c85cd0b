"""Markdown with line numbers: front matter, sections and tables."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

from kbs_engine.errors import WikiError

FENCE = "---"
_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
_PIPE = re.compile(r"(?<!\\)(?:\\\\)*\|")


class Row(msgspec.Struct, frozen=True):
    """One body row of a table."""

    line: int
    cells: tuple[str, ...]


class Table(msgspec.Struct, frozen=True):
    """A pipe table whose rows all have as many cells as its header."""

    line: int
    header: tuple[str, ...]
    rows: tuple[Row, ...]


class Section(msgspec.Struct, frozen=True):
    """The text from one heading to the next. ``heading`` is the path from the title down."""

    line: int
    level: int
    heading: tuple[str, ...]
    text: str
    body_line: int
    """The line on which ``text`` starts."""
    tables: tuple[Table, ...] = ()

    @property
    def title(self) -> str:
        """The section's own heading."""
        return self.heading[-1] if self.heading else ""


class Document(msgspec.Struct, frozen=True):
    """One page: the YAML of its front matter, padded to the right line, and its sections."""

    front: str | None
    sections: tuple[Section, ...]
    faults: tuple[WikiError, ...] = ()

    def section(self, title: str) -> Section | None:
        """The first section of this heading, at any level."""
        return next((part for part in self.sections if part.title == title), None)


class _Fault(msgspec.Struct, frozen=True):
    """A broken table: line (from 1), what is wrong and how to mend it."""

    line: int
    message: str
    remedy: str


class _Head(msgspec.Struct, frozen=True):
    """A heading: its line and the line after it (from 0), level and words."""

    line: int
    body: int
    level: int
    title: str


@cache
def _parser() -> MarkdownIt:
    """Blocks alone: what stands inside a paragraph or a cell is kept as it is written."""
    return MarkdownIt("commonmark").enable("table").disable("inline")


def unify_lines(text: str) -> str:
    r"""The text with ``\n`` as its only line end, so that every reader counts the same lines.

    A file of ``\r`` alone has lines too; a stray ``\r`` among ``\n`` is a space, because editors
    and grep do not count it.
    """
    text = text.replace("\r\n", "\n")
    return text.replace("\r", " " if "\n" in text else "\n")


def split_cells(line: str) -> tuple[str, ...]:
    r"""The cells of one table line; ``\|`` is a pipe inside a cell (GitHub's rule)."""
    line = line.strip()
    cells, current, escaped = [], "", False
    for char in line:
        if char == "|" and not escaped:
            cells.append(current)
            current = ""
            continue
        if char == "|":
            current = current[:-1]
        current += char
        escaped = char == "\\" and not escaped
    cells.append(current)
    if line.startswith("|"):
        cells = cells[1:]
    if len(cells) > 1 and not cells[-1].strip():
        cells = cells[:-1]
    return tuple(cell.strip() for cell in cells)


def split_front(text: str, where: str) -> tuple[str | None, str]:
    """Front matter and body, each padded with blank lines so that line numbers stay."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return None, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == FENCE:
            front = "\n".join(["", *lines[1:number]])
            return front, "\n" * (number + 1) + "\n".join(lines[number + 1 :])
    raise WikiError(
        "front matter is not closed", where=f"{where}:1", remedy="end it with a line '---'"
    )


def parse(text: str, where: str) -> Document:
    """Read a page; broken tables are listed in ``faults``, an unclosed front matter raises."""
    front, body = split_front(unify_lines(text), where)
    sections, faults = _read(body)
    return Document(
        front=front,
        sections=sections,
        faults=tuple(
            WikiError(fault.message, where=f"{where}:{fault.line}", remedy=fault.remedy)
            for fault in faults
        ),
    )


@lru_cache(maxsize=512)
def _read(body: str) -> tuple[tuple[Section, ...], tuple[_Fault, ...]]:
    """Sections and faults of a text; a check of the wiki reads every page more than once."""
    lines = body.split("\n")
    tokens = _parser().parse(body)
    faults: list[_Fault] = []
    tables = [
        _table(token, lines, faults) for token in tokens if token.type == "table_open" and token.map
    ]
    faults.extend(_lost_tables(tokens, lines))
    return tuple(_sections(tokens, lines, tables)), tuple(faults)


def _table(token: Token, lines: list[str], faults: list[_Fault]) -> Table:
    start, end = token.map or [0, 0]
    header = split_cells(lines[start])
    rows = []
    for number in range(start + 2, end):
        if not lines[number].strip():
            continue
        cells = split_cells(lines[number])
        if len(cells) == len(header):
            rows.append(Row(number + 1, cells))
            continue
        faults.append(
            _Fault(
                number + 1,
                f"table row has {len(cells)} cells, its header has {len(header)}",
                r"add or remove cells; write a pipe inside a cell as \|",
            )
        )
    return Table(start + 1, header, tuple(rows))


def _lost_tables(tokens: list[Token], lines: list[str]) -> list[_Fault]:
    """Paragraphs that were meant as a table but that Markdown does not read as one."""
    faults = []
    for token in tokens:
        if token.type != "paragraph_open" or not token.map:
            continue
        start, end = token.map
        rows = [n for n in range(start, end) if lines[n].lstrip().startswith("|")]
        first = rows[0] if rows else start
        if not rows or (len(rows) == 1 and len(_PIPE.findall(lines[first])) < 3):  # noqa: PLR2004
            continue
        faults.append(
            _Fault(
                first + 1,
                "table without a header and a delimiter row of as many cells",
                "put '|---|---|…' below the header, one part for each column, "
                "and no blank line between rows",
            )
        )
    return faults


def _sections(tokens: list[Token], lines: list[str], tables: list[Table]) -> list[Section]:
    starts: list[_Head] = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.map and token.level == 0:
            line, body = token.map
            starts.append(_Head(line, body, int(token.tag[1:]), inline.content.strip()))
    first = starts[0].line if starts else len(lines)
    sections = []
    if any(line.strip() for line in lines[:first]):
        sections.append(_section(_Head(0, 0, 0, ""), (), first, lines, tables))
    path: list[tuple[int, str]] = []
    ends = [*(head.line for head in starts[1:]), len(lines)]
    for head, end in zip(starts, ends, strict=False):  # one end too many without headings
        path = [part for part in path if part[0] < head.level]
        path.append((head.level, head.title))
        sections.append(_section(head, tuple(name for _, name in path), end, lines, tables))
    return sections


def _section(
    head: _Head,
    heading: tuple[str, ...],
    end: int,
    lines: list[str],
    tables: list[Table],
) -> Section:
    first = head.body
    while first < end and not lines[first].strip():
        first += 1
    inside = tuple(table for table in tables if head.line < table.line <= end)
    text = "\n".join(lines[first:end]).rstrip()
    return Section(head.line + 1, head.level, heading, text, first + 1, inside)
