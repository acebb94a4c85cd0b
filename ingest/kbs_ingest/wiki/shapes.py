"""YAML into typed records, with the line of what does not fit."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from kbs_engine.errors import WikiError
from kbs_ingest.safe_yaml import Lines, load
from kbs_ingest.wiki.faults import near

T = TypeVar("T")
_PATH = re.compile(r"\s*- at `(?P<path>[^`]*)`$")
_STEP = re.compile(r"\.(?P<name>[A-Za-z0-9_]+)|\[(?P<index>\d+|\.\.\.)\]")
_UNKNOWN = re.compile(r"unknown field `(?P<name>[^`]+)`")


class YamlPart(msgspec.Struct, frozen=True):
    """A YAML file or the front matter of a page."""

    where: str
    value: Any
    lines: Lines

    def at(self, *path: str | int) -> str:
        """``file:line`` of the part at ``path``, or of the nearest parent that has a line."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.where}:{self.lines.get(path, 1)}"

    def line(self, *path: str | int) -> int:
        """The line alone."""
        return int(self.at(*path).rpartition(":")[2])


def read_yaml(text: str, where: str) -> YamlPart:
    """Load with the safe loader; WikiError tells what is refused."""
    value, lines = load(text, where, error=WikiError)
    return YamlPart(where, value, lines)


def convert(part: YamlPart, kind: type[T]) -> T:
    """The value as ``kind``; WikiError with the line of what does not fit."""
    try:
        return msgspec.convert(part.value, kind)
    except (msgspec.ValidationError, ValueError) as problem:
        message, path = _explain(str(problem))
        unknown = _UNKNOWN.search(message)
        remedy = ""
        if unknown:
            path = (*path, unknown["name"])
            fields = getattr(kind, "__struct_encode_fields__", ())
            remedy = near(unknown["name"], fields) or "remove it"
        raise WikiError(
            message, where=part.at(*path), remedy=remedy or "see docs/wiki-format.md"
        ) from problem


def _explain(text: str) -> tuple[str, tuple[str | int, ...]]:
    found = _PATH.search(text)
    if not found:
        return text, ()
    steps: list[str | int] = []
    for step in _STEP.finditer(found["path"]):
        if step["name"]:
            steps.append(step["name"])
        elif step["index"].isdigit():
            steps.append(int(step["index"]))
        else:
            break
    return text[: found.start()] + f" in {found['path'].lstrip('$.') or 'the file'}", tuple(steps)
