"""The headings of a Markdown text, as they stand over a line."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})")
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+)\s*$")
_BOLD = re.compile(r"^ {0,3}(?:\*\*|__)([^*|]{1,80}?)(?:\*\*|__):?\s*$")
_LEADS = re.compile(r"^ {0,3}([^\s|<>:-][^|<>:]{0,60}):\s*$")
"""``H200:`` above a list holds for the list."""
_LISTED = re.compile(r"^\s*(?:[-*+•|]|\d+[.)])\s?|^\s{2,}")
_LOWEST = 7
_SUFFIXES = frozenset({".md", ".markdown"})


class Headings:
    """Which headings hold for the line that was passed last."""

    def __init__(self, suffix: str) -> None:
        """``suffix`` is the file's; only Markdown has headings."""
        self.reads = suffix in _SUFFIXES
        self.open: list[tuple[int, str]] = []
        self.fence = ""
        self.before: str | None = None

    def pass_by(self, line: str) -> None:
        """Take notice of one line."""
        if not self.reads:
            return
        before, self.before = self.before, line.strip()
        if not self._is_fenced(line, first=before is None) and line.strip():
            self._read(line, before or "")

    def _is_fenced(self, line: str, *, first: bool) -> bool:
        """Whether a line is of a code block or of the front matter."""
        mark = "---" if line.strip() == "---" and (first or self.fence == "---") else ""
        if found := _FENCE.match(line):
            mark = found["fence"]
        if not self.fence:
            self.fence = mark
            return bool(mark)
        if mark.startswith(self.fence):
            self.fence = ""
        return True

    def _read(self, line: str, before: str) -> None:
        if found := _HEADING.match(line):
            self._open(len(found[1]), found[2])
        elif _UNDERLINE.match(line) and before and "|" not in before:
            self._open(1 if "=" in line else 2, before)
        elif found := _BOLD.match(line):
            self._open(_LOWEST, found[1])
        elif found := _LEADS.match(line):
            self._open(_LOWEST + 1, found[1])
        elif not _LISTED.match(line):
            self._open(_LOWEST + 1, "")

    def _open(self, level: int, text: str) -> None:
        self.open = [head for head in self.open if head[0] < level] + [(level, text)]

    def above(self) -> tuple[str, ...]:
        """The headings over the line, the nearest first."""
        return tuple(text for _, text in reversed(self.open) if text)
