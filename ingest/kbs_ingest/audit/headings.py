"""The headings of a Markdown text, as they stand over a line."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})")
_SUFFIXES = frozenset({".md", ".markdown"})


class Headings:
    """Which headings hold for the line that was passed last."""

    def __init__(self, suffix: str) -> None:
        """``suffix`` is the file's; only Markdown has headings."""
        self.reads = suffix in _SUFFIXES
        self.open: list[tuple[int, str]] = []
        self.fence = ""

    def pass_by(self, line: str) -> None:
        """Take notice of one line."""
        if not self.reads:
            return
        if mark := _FENCE.match(line):
            if not self.fence:
                self.fence = mark["fence"]
            elif mark["fence"].startswith(self.fence):
                self.fence = ""
            return
        found = None if self.fence else _HEADING.match(line)
        if found:
            level = len(found[1])
            self.open = [head for head in self.open if head[0] < level] + [(level, found[2])]

    def above(self) -> tuple[str, ...]:
        """The headings over the line, the nearest first."""
        return tuple(text for _, text in reversed(self.open))
