"""Ids and aliases: how they look and when two are the same."""

from __future__ import annotations

import re

_ID = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_SEPARATORS = re.compile(r"[\s\-_]+")


def is_id(text: object) -> bool:
    """Whether ``text`` is a snake_case id."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def normalise(name: str) -> str:
    """The form in which two names are compared: no case, no spaces, hyphens or underscores."""
    return _SEPARATORS.sub("", name.casefold())
