"""Small parts of Markdown reports: tables, numbers with units, and what is not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kbs_engine.run.measured import StatedComparison
from kbs_engine.units import human_ns

NOT_COLLECTED: Final = "N/A"
"""For what was not collected."""
NOT_FOUND: Final = "unknown"
"""For what should stand in the artifacts and cannot be found there."""
NOTES: Final = "<!-- notes -->"
"""Below this line a person may add remarks; the gate leaves them alone."""


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; a note in place of one without rows."""
    body = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    if not body:
        return "Nothing to list."
    head = [f"| {' | '.join(headers)} |", f"|{'---|' * len(headers)}"]
    return "\n".join([*head, *body])


def document(title: str, *parts: str) -> str:
    """Title and parts with blank lines between; empty parts are left out."""
    return "\n\n".join([f"# {title}", *(part.strip("\n") for part in parts if part)]) + "\n"


def section(title: str, *parts: str) -> str:
    """A second-level heading with its parts."""
    return "\n\n".join([f"## {title}", *(part.strip("\n") for part in parts if part)])


def bullets(lines: Iterable[str]) -> str:
    """A list, or ``- none``."""
    return "\n".join(f"- {line}" for line in lines) or "- none"


def time(value: float | None, *, missing: str = NOT_COLLECTED) -> str:
    """A time in ns as people read it."""
    return missing if value is None else human_ns(value)


def number(value: float | None, form: str = ".4g", *, missing: str = NOT_COLLECTED) -> str:
    """A number, or what is not there."""
    return missing if value is None else format(value, form)


def share(value: float | None, *, missing: str = NOT_COLLECTED) -> str:
    """A share (0–1) in percent."""
    return missing if value is None else f"{100 * value:.1f} %"


def interval(low: float | None, high: float | None, form: str = ".3f") -> str:
    """``[low, high]``, or N/A."""
    if low is None or high is None:
        return NOT_COLLECTED
    return f"[{low:{form}}, {high:{form}}]"


def factor(row: StatedComparison | None, *, missing: str = NOT_COLLECTED) -> str:
    """A comparison as ``1.93× [1.90, 1.96], faster``."""
    if row is None:
        return missing
    return f"{row.ratio:.3f}× {interval(row.low, row.high)}, {row.verdict}"


def gain(value: float | None, low: float | None, high: float | None) -> str:
    """A share of time with its interval, in percent."""
    if value is None:
        return NOT_COLLECTED
    if low is None or high is None:
        return share(value)
    return f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")
