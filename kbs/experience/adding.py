"""From the options of ``kbs experience add``, or a file, to records."""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import InputError, UsageError
from kbs_engine.experience import Record
from kbs_engine.experience.form import malformed
from kbs_engine.experience.keys import refuse_repeated, refuse_unknown
from kbs_engine.experience.legacy import method_slug
from kbs_engine.experience.records import fields_of, whole
from kbs_engine.inputs import read_regular
from kbs_engine.numerals import read_integer, shortened, storable
from kbs_engine.outcomes import Outcome, dims_class, with_gain
from kbs_engine.vocabulary import VERDICTS
from kbs_ingest.experience import Lore
from kbs_ingest.experience.lore import task_of
from kbs_ingest.experience.places import experience_folder
from kbs_ingest.experience.survey import judging, marks_of
from kbs_ingest.readers.text import as_utf8

OLDER_VERDICTS = {
    "success": "effective",
    "neutral": "ineffective",
    "failure": "ineffective",
    "regressed": "harmful",
    "incorrect": "implementation_failed",
}
"""Words of the older logs for what came of a change."""

_ROUNDED = 0.02
"""Relative difference of two times that digits left out may make."""

NO_VERDICTS = "new records need a verdict on correctness and one on integrity"
GIVE_VERDICTS = (
    "say --correct or --incorrect, and --integrity or --no-integrity, as `kbs check` found; "
    "`kbs experience merge FILE` takes older logs in as unverified"
)


def records_of_file(path: Path) -> list[Record]:
    """One record, a list of them, or one per line; ``-`` is standard input.

    Raises:
        InputError: It is no such file, or a record lacks its verdicts.
    """
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else read_regular(path)
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}",
            where=str(path),
            remedy="name a JSON file with one record or a list of them, or - for standard input",
        ) from problem
    return [_record(value, f"{path}: record {n}") for n, value in enumerate(_values(data, path), 1)]


def doubts_of(
    home: Path, ids: Sequence[str], records: Sequence[Record], lore: Lore
) -> dict[str, str]:
    """Why those of the new outcomes are not believed that are not, by id, as a merge tells it."""
    new = {
        id_: lore.resolve(with_gain(record))
        for id_, record in zip(ids, records, strict=True)
        if isinstance(record, Outcome)
    }
    doubts = {id_: lore.doubt(outcome, {}) for id_, outcome in new.items()}
    dims = {task_of(new[id_])[3] for id_, why in doubts.items() if not why and new[id_].dims}
    if dims:
        folder = experience_folder(home)
        libraries = judging(folder, lore, marks_of(folder, lore), only=dims)
        doubts = {id_: why or lore.doubt(new[id_], libraries) for id_, why in doubts.items()}
    return {id_: why for id_, why in doubts.items() if why}


def _values(data: bytes, path: Path) -> list[Any]:
    data = as_utf8(data).removeprefix(BOM_UTF8)
    try:
        value = decode_json(data)
        parts = [data]
    except msgspec.DecodeError:
        parts = [line for line in data.splitlines() if line.strip()]
        value = [_value(line, path) for line in parts]
    for number, part in enumerate(parts, 1):
        _read_once(part, str(path) if len(parts) == 1 else f"{path}: record {number}")
    return value if isinstance(value, list) else [value]


def _read_once(data: bytes, where: str) -> None:
    try:
        refuse_repeated(data)
    except ValueError as problem:
        raise InputError(
            f"is no record: {problem}", where=where, remedy="leave one of the two"
        ) from problem


def _value(line: bytes, path: Path) -> Any:
    try:
        return decode_json(line)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InputError(
            f"is no JSON: {problem}",
            where=str(path),
            remedy="write one record, a list of records, or one record a line",
        ) from problem


def _record(value: Any, where: str) -> Record:
    if isinstance(value, dict) and value.get("kind", "outcome") == "outcome":
        if "correct" not in value or "integrity" not in value or value.get("verified") is False:
            raise InputError(NO_VERDICTS, where=where, remedy=GIVE_VERDICTS)
        value = whole(value)
    if isinstance(value, dict) and value.get("kind") == "legacy":
        raise InputError(NO_VERDICTS, where=where, remedy=GIVE_VERDICTS)
    try:
        found: Record = msgspec.convert(value, Record)
        refuse_unknown(value, fields_of(found), "a record")
    except ValueError as problem:
        raise InputError(
            f"is no record: {problem}",
            where=where,
            remedy="docs/experience.md lists the fields of each kind",
        ) from problem
    if isinstance(found, Outcome):
        named = msgspec.structs.replace(found, method=method_slug(found.method))
        why = malformed(named)  # the wiki's names of methods are told from ids when it is read
        if why:
            raise InputError(f"is no record: {why}", where=where, remedy="correct the field")
    return found


def require(options: dict[str, Any]) -> None:
    """Refuse options without a verdict or without what identifies an outcome."""
    for name in ("correct", "integrity"):
        if options[name] is None:
            raise UsageError(NO_VERDICTS, remedy=GIVE_VERDICTS)
    for name in ("method", "verdict", "kernel", "language", "chip"):
        if options[name] is None:
            raise UsageError(f"--{name} is missing", remedy="see `kbs experience add --help`")


def outcome_of_options(options: dict[str, Any], lore: Lore) -> Outcome:
    """The outcome that options describe.

    Raises:
        UsageError: The values are none, or contradict each other.
    """
    given = {name: value for name, value in options.items() if value not in (None, ())}
    fields = _times(given) | {
        "verdict": _verdict(given.pop("verdict")),
        "method": _method(given.pop("method"), lore),
        **_chip(given.pop("chip"), given.pop("arch", None), lore),
    }
    dims = given.get("dims", {})
    source: Path | None = given.pop("source", None)
    if source is not None:
        fields["source_hash"] = _hash(source)
    try:
        found = msgspec.convert({**given, **fields, "dims_class": dims_class(dims)}, Outcome)
    except msgspec.ValidationError as problem:
        raise UsageError(f"no outcome: {problem}", remedy="see `kbs experience add --help`") from (
            problem
        )
    why = malformed(found)
    if why:
        raise UsageError(f"no outcome: {why}", remedy="see `kbs experience add --help`")
    return found


def _verdict(word: str) -> str:
    found = OLDER_VERDICTS.get(word.casefold(), word.casefold())
    if found not in VERDICTS:
        words = ", ".join([*VERDICTS, *OLDER_VERDICTS])
        raise UsageError(f"--verdict {word} is none of {words}", remedy="choose one of them")
    return found


def _method(text: str, lore: Lore) -> str:
    found = lore.method(text)
    return found if found != text else method_slug(text)


def _chip(name: str, arch: str | None, lore: Lore) -> dict[str, str]:
    known = lore.chip(name)
    if known is not None:
        return {"chip": known.id, "arch": arch or known.arch}
    found = arch or lore.arch(name)
    if found is None:
        raise UsageError(
            f"the wiki knows no chip {name!r}", remedy="name one of `kbs specs`, or add --arch"
        )
    return {"chip": name, "arch": found}


def _times(given: dict[str, Any]) -> dict[str, float]:
    """Gain as told, else from the two times, else from a speed-up; they must not contradict."""
    before, after = given.get("before_ns"), given.get("after_ns")
    told: dict[str, float] = {}
    if "gain" in given:
        told["--gain"] = given["gain"]
    if before is not None and after is not None:
        told["--before-ns and --after-ns"] = 1 - after / before
    if "speedup" in given:
        told["--speedup"] = 1 - 1 / given.pop("speedup")
    if not told:
        return {}
    (first, gain), *others = told.items()
    for name, other in others:
        if not math.isclose(1 - gain, 1 - other, rel_tol=_ROUNDED):
            raise UsageError(
                f"{first} and {name} contradict each other: gains of {gain:.3g} and {other:.3g}",
                remedy="give one of them; the gain is 1 - after / before, the speed-up before / "
                "after",
            )
    return {"gain": gain}


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest()
    except OSError as problem:
        raise InputError(
            f"cannot be read: {problem.strerror or problem}",
            where=str(path),
            remedy="name the kernel's source file",
        ) from problem


def json_object(text: str, option: str, *, numbers: bool = False) -> dict[str, Any]:
    """``{"M": 64}`` or ``M=64,N=4096`` as a mapping; UsageError for anything else.

    With ``numbers`` every value must be one.
    """
    found = _json_object(text, option)
    for name, value in found.items():
        if not storable(value):
            raise UsageError(
                f"{option} {name} is no number that can be used: {shortened(value)}",
                remedy="give a number of at most 64 bits, neither infinite nor nan",
            )
        if numbers and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise UsageError(
                f"{option} {name} is no number: {shortened(value)}",
                remedy="leave out what was not measured",
            )
    return found


def _json_object(text: str, option: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        try:
            value = json.loads(text, parse_int=read_integer)
        except (ValueError, RecursionError) as problem:
            raise UsageError(
                f"{option} is no JSON: {problem}", remedy="quote it for the shell"
            ) from (problem)
        return dict(value)
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise UsageError(
                f"{option} {text} is neither JSON nor NAME=VALUE,…",
                remedy=f"write it as {option} M=4096,N=4096",
            )
        found[name.strip()] = _scalar(value.strip())
    return found


def _scalar(text: str) -> int | float | bool | str:
    if re.fullmatch(r"[-+]?\d+", text, re.ASCII):
        return read_integer(text)
    if re.fullmatch(r"[-+]?(\d+\.\d*|\.?\d+)([eE][-+]?\d+)?", text, re.ASCII):
        return float(text)
    return text == "true" if text in ("true", "false") else text
