"""Days as ISO 8601 writes them: read in one way wherever a date is told."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

_DAY: Final = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ][\d:.,+\-Z]{1,40})?", re.ASCII)
"""A calendar date, alone or before a time of day."""

FORM: Final = "write it as 2026-01-31"
"""What to do about a date that is none."""


def today() -> date:
    """The day in UTC."""
    return datetime.now(timezone.utc).date()


@lru_cache(maxsize=65536)
def read_day(text: str) -> date | None:
    """The day of ``2026-01-31`` or of a time on it, or None where ``text`` is no such day."""
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        return None


FIRST: Final = date(2000, 1, 1)
"""No kernel was measured before: GPUs ran none."""


def day_fault(text: str, *, future: bool = False, measured: bool = False) -> str | None:
    """What is wrong with ``text`` as a date (words to follow it), or None.

    Args:
        text: the date as told.
        future: whether a day that is yet to come is one; else no day after tomorrow is, since
            no time zone is further ahead.
        measured: whether a kernel was measured on it, which none was before ``FIRST``.
    """
    day = read_day(text)
    if day is None:
        return "is no date"
    if not future and day > today() + timedelta(days=1):
        return "is no date of anything measured: it is yet to come"
    if measured and day < FIRST:
        return f"is no date of anything measured: it is before {FIRST}"
    return None
