"""Numbers that people type: those that every file of ours can hold, and what is said of others."""

from __future__ import annotations

import math
from typing import Any, Final

LARGEST: Final = 2**63 - 1
"""Integers of records, of JSON and of kernel arguments have 64 bits."""
_DIGITS: Final = 19
_SHOWN: Final = 24


def read_integer(text: str) -> int:
    """An integer; one that is far too large for 64 bits becomes one that just is.

    Python refuses to read numbers of some thousand digits at all.
    """
    digits = text.strip().lstrip("+-").replace("_", "").lstrip("0")
    if len(digits) > _DIGITS:
        return -(2**64) if text.strip().startswith("-") else 2**64
    return int(text)


def storable(value: Any) -> bool:
    """Whether every number in ``value`` (also in lists, tuples and dicts) can be written down."""
    if isinstance(value, dict):
        return all(storable(one) for one in (*value.keys(), *value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(storable, value))
    if isinstance(value, int):
        return -LARGEST - 1 <= value <= LARGEST
    return not isinstance(value, float) or math.isfinite(value)


def shortened(value: Any) -> str:
    """A value as a message shows it: a few digits of a long one."""
    if isinstance(value, int) and not storable(value):
        return "an integer of more than 64 bits"
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
