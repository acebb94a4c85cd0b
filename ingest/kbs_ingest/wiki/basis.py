"""The Basis column: tokens that say under which conditions a value holds."""

from __future__ import annotations

import re
from typing import Any

from kbs_engine.facts import Basis

_CLOCK = re.compile(r"clock (\d+(?:\.\d+)?) MHz")
_ACCUMULATE = re.compile(r"([a-z0-9_]+) accumulate")
_PLAIN: dict[str, tuple[str, str]] = {
    "dense": ("density", "dense"),
    "sparse": ("density", "sparse"),
    **{f"per {scope}": ("scope", scope) for scope in ("chip", "die", "unit", "block", "thread")},
    "both directions": ("direction", "both"),
    "one direction": ("direction", "one"),
}


def parse_basis(text: str) -> Basis:
    """Read tokens separated by ``;``; ValueError when two contradict each other."""
    known: dict[str, Any] = {}
    remarks: list[str] = []
    for token in (part.strip() for part in text.split(";")):
        if not token:
            continue
        field, value = _token(token)
        if not field:
            remarks.append(token)
        elif field in known and known[field] != value:
            msg = f"basis says {field} twice: {known[field]} and {value}"
            raise ValueError(msg)
        else:
            known[field] = value
    return Basis(**known, remarks=tuple(remarks))


def _token(token: str) -> tuple[str, str | float]:
    if token in _PLAIN:
        return _PLAIN[token]
    if match := _CLOCK.fullmatch(token):
        return "clock_hz", float(match[1]) * 1e6
    if match := _ACCUMULATE.fullmatch(token):
        return "accumulate", match[1]
    return "", token
