"""Text cut into pieces that one citation cannot cross, each with its line and raw offsets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import msgspec

JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".ipynb", ".sarif"})
C_SUFFIXES = frozenset({".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", ".hip", ".js", ".rs"})
HASH_SUFFIXES = frozenset({".py", ".sh", ".toml", ".cfg", ".ini"})
PROSE_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".rst", ".yaml", ".yml", ".log", ""})
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
_STRUCTURE = re.compile(
    r'"(?P<key>[\w .-]{1,80})"\s{0,8}:\s{0,8}\{'
    r'|(?P<pair>"[\w .-]{1,80}"\s{0,8}:\s{0,8}-?\d[\d.eE+-]{0,30})'
    r'|"(?:[^"\\\n]|\\.)*"|[{}]'
)
"""Keys with an object, and keys with a number, of which no string alone tells."""
_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_BLOCK = re.compile(r"/\*.*?(?:\*/|$)")
_C_COMMENT = re.compile(r"//[^\n]*")
_HASH_COMMENT = re.compile(r"(?:^|\s)#[^\n]*")


class TableRow(msgspec.Struct, frozen=True):
    """The table that a line belongs to: its column headings, and whether they cite."""

    header: tuple[str, ...]
    cited: bool


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A line, or a line of a JSON string with its escapes undone."""

    line: int
    text: str
    start: int
    """Offset of the first character in the whole text."""
    offsets: tuple[int, ...] | None = None
    """Raw offset of each character where escapes shift them."""
    row: TableRow | None = None
    prose: str | None = None
    """The part that a reader takes as prose, None for all of it."""

    def raw_span(self, first: int, last: int) -> tuple[int, int]:
        """Where characters ``first`` to ``last`` of ``text`` stand in the whole text."""
        if self.offsets is None:
            return self.start + first, self.start + last
        return self.offsets[first], self.offsets[last - 1] + 1


def pieces(text: str, suffix: str) -> Iterator[Piece]:
    """Cut ``text`` by its kind of file."""
    if suffix in JSON_SUFFIXES:
        yield from _json(text)
    elif suffix in C_SUFFIXES:
        yield from _code(text, block=True)
    elif suffix in HASH_SUFFIXES:
        yield from _code(text, block=False)
    else:
        yield from _lines(text)


def raw_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Number, offset and content of each line, without its end."""
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, start, line.removesuffix("\r")
        start += len(line) + 1


def _lines(text: str) -> Iterator[Piece]:
    before = ""
    row: TableRow | None = None
    for number, start, line in raw_lines(text):
        is_row = line.count("|") > 1 or (row is not None and "|" in line)
        if is_row and "-" in line and _DELIMITER.match(line) and "|" in before:
            cells = tuple(cell.strip() for cell in before.strip().strip("|").split("|"))
            row = TableRow(cells, "gpu-wiki" in before)
        elif not is_row:
            row = None
        yield Piece(line=number, text=line, start=start, row=row)
        before = line


def _json(text: str) -> Iterator[Piece]:
    opened: list[str] = []
    for number, start, line in raw_lines(text):
        covered = False
        for literal in _STRING.finditer(line):
            covered = True
            yield from _string(literal[0], number, start + literal.start())
        for found in _STRUCTURE.finditer(line):
            if found["key"] is not None or found[0] == "{":
                opened.append(found["key"] or "")
            elif found[0] == "}" and opened:
                opened.pop()
            elif found["pair"] is not None:
                above = next((key for key in reversed(opened) if key), "")
                text_of = f'"{above}" > {found["pair"]}' if above else found["pair"]
                yield Piece(line=number, text=text_of, start=start + found.start(), prose="")
        if not covered and "gpu-wiki" in line:
            yield Piece(line=number, text=line, start=start)


def _string(literal: str, line: int, start: int) -> Iterator[Piece]:
    body = literal[1:-1]
    if "\\" not in body:
        yield Piece(line=line, text=body, start=start + 1)
        return
    characters: list[str] = []
    offsets: list[int] = []
    position = 0
    while position < len(body):
        escape = _ESCAPE.match(body, position)
        size = len(escape[0]) if escape else 1
        characters.append(_unescape(escape[0]) if escape else body[position])
        offsets.append(start + 1 + position)
        position += size
    yield from _split_lines(characters, offsets, line)


def _unescape(escape: str) -> str:
    try:
        decoded = json.loads(f'"{escape}"')
    except ValueError:
        return escape[-1]
    return decoded if isinstance(decoded, str) and len(decoded) == 1 else "?"


def _split_lines(characters: Sequence[str], offsets: Sequence[int], line: int) -> Iterator[Piece]:
    first = 0
    for position in range(len(characters) + 1):
        if position < len(characters) and characters[position] != "\n":
            continue
        if position > first:
            yield Piece(
                line=line,
                text="".join(characters[first:position]).removesuffix("\r"),
                start=offsets[first],
                offsets=tuple(offsets[first:position]),
            )
        first = position + 1


def _code(text: str, *, block: bool) -> Iterator[Piece]:
    inside = False
    for number, start, line in raw_lines(text):
        prose: list[str] = []
        if block:
            rest = line
            if inside:
                head, closed, rest = line.partition("*/")
                prose.append(head)
                inside = not closed
            prose.extend(found[0] for found in _BLOCK.finditer(rest))
            inside = inside or (bool(prose) and "*/" not in prose[-1] and "/*" in prose[-1])
            prose.extend(found[0] for found in _C_COMMENT.finditer(rest))
        else:
            prose.extend(found[0] for found in _HASH_COMMENT.finditer(line))
        yield Piece(line=number, text=line, start=start, prose=" ".join(prose))
