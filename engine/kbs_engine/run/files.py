"""Reading and writing records as JSON files, with errors that say what and where."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import InputError, StoreError
from kbs_engine.inputs import read_regular

R = TypeVar("R")


def sha256_of(data: bytes | str) -> str:
    """SHA-256 of content."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def as_json(record: Any) -> bytes:
    """A record as indented JSON with a newline: people read these files too."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def read_bytes(path: Path) -> bytes:
    """Content of a file; InputError when it cannot be read."""
    try:
        return read_regular(path)
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}",
            where=str(path),
            remedy="name a run folder that kbs made, whole",
        ) from problem


def read_text(path: Path) -> str:
    """Text of a file; InputError when it is missing or not UTF-8."""
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as problem:
        raise InputError(
            f"is not UTF-8 text ({problem.reason} at byte {problem.start})",
            where=str(path),
            remedy="save it as UTF-8",
        ) from problem


def decoded(path: Path) -> str | None:
    """Text of a file; None where it is missing or not UTF-8."""
    if not path.is_file():
        return None
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError:
        return None


def read_record(
    path: Path, kind: type[R], *, before: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> R:
    """A record of ``kind``; InputError for what is no such record, StoreError for a newer one.

    ``before`` turns an older form, as builtins, into today's.
    """
    data = read_bytes(path)
    newest = _version_of(kind)
    try:
        plain = decode_json(data)
        stored = plain.get("schema_version") if isinstance(plain, dict) else None
        if newest is not None and isinstance(stored, int) and stored > newest:
            raise StoreError(
                f"was written by a newer kbs (schema {stored}, this one knows {newest})",
                where=str(path),
                remedy="upgrade kbs",
            )
        if before is not None and isinstance(plain, dict):
            plain = before(plain)
        return msgspec.convert(plain, kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            f"is no {kind.__name__} record: {problem}",
            where=str(path),
            remedy="restore the file from the run's git history, or run the step again",
        ) from problem


def _version_of(kind: type[Any]) -> int | None:
    """The schema version that this kbs writes for a record, from the field's default."""
    for field in msgspec.structs.fields(kind):
        if field.name == "schema_version" and isinstance(field.default, int):
            return field.default
    return None
