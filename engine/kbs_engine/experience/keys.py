"""Keys of records as others write them: none twice, and none unknown that nothing vouches for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def refuse_repeated(data: bytes) -> None:
    """Refuse JSON in which an object has a key twice: readers differ in which of them they take.

    Raises:
        ValueError: A key stands twice, or it is no JSON.
    """
    try:
        json.loads(data.decode(), object_pairs_hook=once, parse_int=len, parse_float=len)
    except RecursionError as problem:
        msg = "JSON is nested too deeply"
        raise ValueError(msg) from problem


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of ``pairs``; ValueError where two have one key."""
    twice: list[str] = []
    found = noting(twice, pairs)
    if twice:
        raise ValueError(twice[0])
    return found


def noting(faults: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of ``pairs``; a key that stands twice is added to ``faults``, in words."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        faults.append(f"{twice[:40]!r} stands twice in one object")
    return found


def refuse_unknown(names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse fields that ``what`` does not have; ValueError names the first and what is near."""
    known = sorted(known)
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else "; notes take anything else"
            msg = f"{what} has no field {name[:40]!r}{meant}"
            raise ValueError(msg)
