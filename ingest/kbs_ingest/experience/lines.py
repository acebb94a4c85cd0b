"""Lines of segments and entries of older logs, with the place of each fault."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kbs_engine.errors import InputError
from kbs_engine.experience.keys import noting
from kbs_engine.experience.legacy import legacy_entry, outcome_of
from kbs_engine.experience.records import Entry, Legacy, read_line
from kbs_engine.inputs import read_regular
from kbs_ingest.readers.text import as_utf8


class BadLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is no record; it never stops the rest."""

    file: str
    line: int
    reason: str


class Found(NamedTuple):
    """A record and the bytes that hold it."""

    number: int
    start: int
    length: int
    entry: Entry


def read_bytes(path: Path) -> bytes:
    """The content of a file as UTF-8; InputError when it cannot be read.

    What is UTF-16 or UTF-32 becomes UTF-8, as reports are read.
    """
    try:
        return as_utf8(read_regular(path))
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}",
            where=str(path),
            remedy="name a segment (.jsonl), a folder of segments, or an older log (.json)",
        ) from problem


def raw_lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, start and bytes of each line that is not blank; a BOM belongs to none."""
    start, number = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0, 0
    size = len(data)
    while start < size:
        number += 1
        end = data.find(b"\n", start)
        if end < 0:
            end = size
        if end > start:
            line = data[start:end]
            if not line.isspace():
                yield number, start, line
        start = end + 1


def parse_lines(data: bytes, name: str) -> Iterator[Found | BadLine]:
    """Every record of a segment, and what is none.

    A last line without its newline that is no record is what a crash left of an append: it was
    never acknowledged, so it is skipped in silence.
    """
    for number, start, line in raw_lines(data):
        try:
            yield Found(number, start, len(line), read_record(line))
        except (ValueError, RecursionError) as problem:  # noqa: PERF203 - a fault is of one line
            if start + len(line) == len(data):
                continue
            yield BadLine(file=name, line=number, reason=_one_line(problem))


def read_record(line: bytes) -> Entry:
    """The entry of a line; an entry of an older log must mean something."""
    entry = read_line(line)
    if isinstance(entry.record, Legacy):
        outcome_of(entry.record)
    return entry


def is_array(data: bytes) -> bool:
    """Whether a file is one JSON array, or an object around one, rather than lines."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"["):
        return True
    return bool(re.match(rb'\{\s*"(entries|experiences?|records|log)"\s*:\s*\[', head))


def parse_array(data: bytes, name: str, origin: str) -> Iterator[Found | BadLine]:
    """Entries of an older log: a JSON array. A damaged one is kept up to the damage.

    A fault names its entry, since a log may stand on one line.
    """
    text = data.decode("utf-8", errors="replace")
    twice: list[str] = []
    hook = partial(noting, twice)
    decoder = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=hook)
    position = text.index("[") + 1
    seen: dict[str, int] = {}
    number, counted = 1, 0
    for entry in count(1):
        position = _skip(text, position)
        number += text.count("\n", counted, position)
        counted = position
        if position >= len(text):
            yield BadLine(file=name, line=number, reason="the array ends before its bracket")
            return
        if text[position] == "]":
            return
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as problem:
            reason = f"entry {entry}: the rest is no JSON: {problem}"
            yield BadLine(file=name, line=number, reason=reason)
            return
        try:
            if twice:
                raise ValueError(twice[0])  # noqa: TRY301 - told as any fault of an entry
            yield Found(number, position, end - position, _array_entry(value, seen, origin))
        except (ValueError, RecursionError) as problem:
            reason = f"entry {entry}: {_one_line(problem)}"
            yield BadLine(file=name, line=number, reason=reason)
        twice.clear()
        position = end


def _array_entry(value: Any, seen: dict[str, int], origin: str) -> Entry:
    if not isinstance(value, dict):
        msg = "not a JSON object"
        raise ValueError(msg)  # noqa: TRY004 - a bad line is one kind of failure
    if "optimization" not in value:
        return read_record(msgspec.json.encode(value))
    bare = {name: part for name, part in value.items() if name != "id"}
    key = json.dumps(bare, sort_keys=True)
    seen[key] = seen.get(key, -1) + 1
    return legacy_entry(bare, seen[key], origin)


def _skip(text: str, position: int) -> int:
    """The next character that is neither blank nor a comma."""
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position


def _no_number(word: str) -> float:
    msg = f"{word} is no number"
    raise ValueError(msg)


def _one_line(problem: Exception) -> str:
    return " ".join(str(problem).split())[:300] or type(problem).__name__
