"""YAML that cannot surprise: no tags, anchors, aliases or duplicate keys, and a line per key.

Scalars follow the YAML 1.2 core schema: only ``true``/``false`` are booleans, ``1e9`` is a
number, and dates and ``12:30`` stay text.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, NoReturn

import yaml

from kbs_engine.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

Path_ = tuple[str | int, ...]
Lines = dict[Path_, int]
"""Line (from 1) of each key path: ``("launches", 0, "flops")``, list items by index."""

_MAX_BYTES: Final = 4_000_000
_MAX_DEPTH: Final = 40
_MAX_DIGITS: Final = 300
_INT: Final = re.compile(r"[-+]?[0-9]{1,300}")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]{1,64}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Final[dict[str, object]] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    ".nan": float("nan"), ".inf": float("inf"), "-.inf": float("-inf"), "+.inf": float("inf"),
}  # fmt: skip
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(
    text: str, where: str, *, error: type[InputError] = InputError, first_line: int = 1
) -> tuple[object, Lines]:
    """Parse one document; return it with the line of every key and item.

    ``where`` is the path for messages, ``error`` the class to raise, ``first_line`` the line
    of the file on which ``text`` starts (front matter).
    """
    return _Builder(where, error, first_line).build(text)


def scalar(value: str) -> object:
    """What a plain scalar means in the YAML 1.2 core schema."""
    if value in _WORDS:
        return _WORDS[value]
    if _INT.fullmatch(value):
        return int(value)
    if _HEX.fullmatch(value):
        return int(value, 16)
    if len(value) < _MAX_DIGITS and _FLOAT.fullmatch(value):
        number = float(value)
        return number if math.isfinite(number) else value
    return value


def _line(event: yaml.Event) -> int:
    """Line of an event, from 0; events of a parsed stream always carry a mark."""
    return event.start_mark.line if event.start_mark else 0


class _Builder:
    """Turn parser events into plain objects, refusing what the format forbids."""

    def __init__(self, where: str, error: type[InputError], first_line: int) -> None:
        self.where = where
        self.error = error
        self.offset = first_line
        self.lines: Lines = {}

    def build(self, text: str) -> tuple[object, Lines]:
        if len(text) > _MAX_BYTES:
            self._fail(f"the file is larger than {_MAX_BYTES} characters", 0, "split it")
        try:
            events = yaml.parse(text, Loader=_LOADER)
            return self._document(events), self.lines
        except yaml.MarkedYAMLError as fault:
            mark = fault.problem_mark or fault.context_mark
            line = mark.line if mark else 0
            what = (fault.problem or str(fault)).replace("\n", " ")
            self._fail(f"not valid YAML: {what}", line, "fix the syntax on this line")
        except yaml.reader.ReaderError as fault:
            line = text.count("\n", 0, max(fault.position, 0))
            self._fail(f"not valid YAML: {fault.reason}", line, "remove the control character")

    def _document(self, events: Iterator[yaml.Event]) -> object:
        result: object = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._fail("a second document starts here", _line(event),
                               "keep one document in a file")  # fmt: skip
            elif not isinstance(
                event, yaml.StreamStartEvent | yaml.StreamEndEvent | yaml.DocumentEndEvent
            ):
                result = self._node(event, events, ())
        return result

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], path: Path_) -> object:
        line = _line(event)
        if isinstance(event, yaml.AliasEvent):
            self._fail(f"alias *{event.anchor} is not allowed", line, "write the value out")
        if anchor := getattr(event, "anchor", None):
            self._fail(f"anchor &{anchor} is not allowed", line, "write the value out")
        if tag := getattr(event, "tag", None):
            self._fail(f"tag {tag} is not allowed", line, "remove it")
        if len(path) > _MAX_DEPTH:
            self._fail(f"nested deeper than {_MAX_DEPTH} levels", line, "flatten it")
        self.lines.setdefault(path, line + self.offset)
        if isinstance(event, yaml.ScalarEvent):
            return scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path)
        return self._mapping(events, path)

    def _sequence(self, events: Iterator[yaml.Event], path: Path_) -> list[object]:
        items: list[object] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, (*path, len(items))))
        return items

    def _mapping(self, events: Iterator[yaml.Event], path: Path_) -> dict[str | int, object]:
        result: dict[str | int, object] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event)
            line = _line(event)
            if key in result:
                first = self.lines[(*path, key)]
                self._fail(f"key {key!r} is given twice, first on line {first}", line,
                           "keep one of them")  # fmt: skip
            self.lines[(*path, key)] = line + self.offset
            result[key] = self._node(next(events), events, (*path, key))
        return result

    def _key(self, event: yaml.Event) -> str | int:
        line = _line(event)
        if isinstance(event, yaml.ScalarEvent) and not event.anchor and not event.tag:
            key = scalar(event.value) if event.implicit[0] else event.value
            if isinstance(key, str) and key != "<<":
                return key
            if isinstance(key, int) and not isinstance(key, bool):
                return key
        return self._fail("a key must be a word or a whole number", line, "put it in quotes")

    def _fail(self, message: str, line: int, remedy: str) -> NoReturn:
        raise self.error(message, where=f"{self.where}:{line + self.offset}", remedy=remedy)
