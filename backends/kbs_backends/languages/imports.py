"""Which packages a Python source imports, read and not run."""

from __future__ import annotations

import ast
import re

_LINE = re.compile(
    r"^[ \t]*(?:import[ \t]+(?P<names>[^#\n;]+)|from[ \t]+(?P<package>\w+))", re.MULTILINE
)


def imports(text: str, package: str) -> bool:
    """Whether ``text`` imports ``package`` or a part of it, in whatever form and place.

    A text that does not parse is read line by line, so that its language is known all the same.
    """
    return package in packages_of(text)


def packages_of(text: str) -> frozenset[str]:
    """Top-level packages of all absolute imports."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(_by_lines(text))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


def _by_lines(text: str) -> set[str]:
    found: set[str] = set()
    for match in _LINE.finditer(text):
        names = match["names"]
        parts = [match["package"]] if names is None else names.split(",")
        found |= {part.split()[0].partition(".")[0] for part in parts if part.strip()}
    return found
