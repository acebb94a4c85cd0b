"""Messages between our processes: records with paths, as JSON files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kbs_engine.decoding import decode_json

T = TypeVar("T")


def written(message: msgspec.Struct) -> bytes:
    """The message as JSON; paths are texts in it."""
    return msgspec.json.encode(message, enc_hook=str)


def read_message(data: bytes, kind: type[T]) -> T:
    """A message of this kind; msgspec.ValidationError for anything else."""
    return decode_json(data, kind, hook=_path)


def _path(kind: type, value: Any) -> Any:
    """A path from its text; TypeError, which msgspec tells as a fault of the message, else."""
    if kind is not Path or not isinstance(value, str):
        msg = f"a message holds no {kind.__name__} like {value!r:.60}"
        raise TypeError(msg)
    return Path(value)
