"""JSON that others wrote: a document nested without end is as bad as any other bad JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
Hook = Callable[[type, Any], Any]


@overload
def decode_json(data: bytes | str, kind: type[T], *, hook: Hook | None = None) -> T: ...
@overload
def decode_json(data: bytes | str, kind: Any = Any, *, hook: Hook | None = None) -> Any: ...
def decode_json(data: bytes | str, kind: Any = Any, *, hook: Hook | None = None) -> Any:
    """What the JSON holds, as ``kind``; ``hook`` decodes types that msgspec does not know.

    Raises:
        msgspec.DecodeError: It is no JSON, does not fit, or is nested too deeply to be read.
    """
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=hook)
    except RecursionError as problem:
        raise msgspec.DecodeError("JSON is nested too deeply") from problem
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as problem:
        word = _no_number(data)
        if not word:
            raise
        told = f"{word} is no number of JSON; leave the field out, or write null"
        raise msgspec.DecodeError(told) from problem


def _no_number(data: bytes | str) -> str:
    """The first NaN or infinity that Python's json writes and JSON does not have; else nothing."""
    found: list[str] = []
    try:
        json.loads(data, parse_constant=found.append)
    except (ValueError, RecursionError):
        return ""
    return found[0] if found else ""
