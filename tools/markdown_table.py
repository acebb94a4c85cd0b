"""Write pipe tables, and put generated text between markers of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a pipe table; an empty cell shows a dash."""
    lines = [_row(header), "|" + "---|" * len(header)]
    lines += [_row([str(cell) or "–" for cell in row]) for row in rows]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def code(words: Iterable[str]) -> str:
    """Return ids in code font, separated by commas."""
    return ", ".join(f"`{word}`" for word in words)


def between(text: str, name: str, body: str) -> str:
    """Replace what stands between the markers of a name; ValueError when they are missing."""
    begin, end = f"<!-- generated: {name} -->\n", f"<!-- end: {name} -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        msg = (
            f"the page has no lines {begin.strip()!r} and {end!r}: add them where the text belongs"
        )
        raise ValueError(msg)
    return f"{head}{begin}{body}{end}{tail}"
