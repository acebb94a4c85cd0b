"""Records of the experience log, their ids, and the line of JSON that holds one.

A line is ``{"id": …, "origin": …, "record": {"kind": …, …}}``. The id is the SHA-256 of the
record as written here (fields in order, defaults left out, keys of maps sorted), so whoever
holds a record finds the same id, and a line whose record was altered does not have its id.
The origin stands outside: one record from two teams is one record.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from typing import Any, Final, Literal

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.experience.keys import refuse_repeated, refuse_unknown
from kbs_engine.outcomes import SCHEMA_VERSION, Outcome
from kbs_engine.vocabulary import Family, Language


class _Base(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag=str.lower
):
    """What every record but an outcome starts from."""

    date: str = ""
    measurement: str = ""
    """UUID: two equal acts are two records."""
    schema_version: int = SCHEMA_VERSION


class Mask(_Base, frozen=True, kw_only=True):
    """Takes records out of every answer; the records stay in the log."""

    targets: tuple[str, ...]
    reason: str

    def __post_init__(self) -> None:
        """A mask names what it hides, and why."""
        if not self.targets or not self.reason.strip():
            msg = "a mask names at least one record and a reason"
            raise ValueError(msg)
        _refuse_no_id(self.targets)


class Unmask(_Base, frozen=True, kw_only=True):
    """Cancels masks, by their ids; a record is hidden while any other mask names it."""

    masks: tuple[str, ...]
    reason: str = ""

    def __post_init__(self) -> None:
        """An unmask names the masks that it cancels."""
        if not self.masks:
            msg = "an unmask names at least one mask"
            raise ValueError(msg)
        _refuse_no_id(self.masks)


_ID: Final = re.compile(r"[0-9a-f]{64}")


def _refuse_no_id(names: tuple[str, ...]) -> None:
    """What no record can be called would never hide or show one."""
    wrong = next((name for name in names if not _ID.fullmatch(name)), None)
    if wrong is not None:
        msg = f"{wrong[:80]!r} is no id of a record (64 digits of base 16, in lower case)"
        raise ValueError(msg)


class Replication(_Base, frozen=True, kw_only=True):
    """A capsule's two kernels, checked and timed again, usually on another machine."""

    capsule: str
    """SHA-256 of the capsule's manifest."""
    targets: tuple[str, ...] = ()
    """Ids of the outcomes whose methods are in the champion."""
    run: str = ""
    kernel: Family = "other"
    language: Language
    chip: str
    arch: str = ""
    dims: dict[str, int | float | str | bool] = {}
    machine: str
    device: Literal["cuda", "rocm", "host", "recorded"]
    driver: str = ""
    versions: dict[str, str] = {}
    correct: bool
    integrity: bool
    verdict: Literal["replicated", "not replicated", "failed"]
    reason: str = ""
    ratio: float | None = None
    """Time of v0 over time of the champion, with its interval."""
    low: float | None = None
    high: float | None = None
    claimed: tuple[float, float, float] | None = None
    """Ratio, low and high of the capsule."""
    noise: float = 0.02

    def __post_init__(self) -> None:
        """Nothing replicates without passed verdicts and a measured ratio."""
        proved = self.correct and self.integrity and self.ratio is not None
        if self.verdict == "replicated" and not proved:
            msg = "a replication claims success without passed verdicts or without a ratio"
            raise ValueError(msg)


class Legacy(_Base, frozen=True, kw_only=True):
    """An entry of an older flat log, word for word; what it means is worked out when read."""

    entry: dict[str, Any]

    def __post_init__(self) -> None:
        """An entry says at least what was tried and what came of it."""
        for name in ("optimization", "outcome"):
            if not isinstance(self.entry.get(name), str) or not self.entry[name].strip():
                msg = f"an entry of an older log without {name!r}"
                raise ValueError(msg)


Record = Outcome | Mask | Unmask | Replication | Legacy

CANONICAL: Final = re.compile(rb'\{"id":"([0-9a-f]{64})","origin":"([^"\\]*)","record":')
"""How a line begins that this program wrote; the rest need not be decoded to know its id."""

MAX_LINE_BYTES: Final = 1 << 20
"""A record takes about a kilobyte; a line of more than a megabyte is none."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A record with its id and where it came from."""

    id: str
    origin: str
    record: Record
    raw: bytes = b""
    """The record as it came, where its hash is the id and this kbs would write it differently."""


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    record: msgspec.Raw
    origin: str = ""


_ENCODER: Final = msgspec.json.Encoder(order="deterministic")
_LINES: Final = msgspec.json.Decoder(_Line)
_RECORDS: Final[msgspec.json.Decoder[Record]] = msgspec.json.Decoder(Record)


def content(record: Record) -> bytes:
    """The bytes whose hash is the id."""
    if isinstance(record, Outcome) and record.origin:
        record = msgspec.structs.replace(record, origin="")
    return _ENCODER.encode(record)


def record_id(record: Record) -> str:
    """SHA-256 of the record's content without its origin."""
    return hashlib.sha256(content(record)).hexdigest()


def entry_of(record: Record, origin: str) -> Entry:
    """The entry of a record that is new: it is given a measurement uuid if it has none.

    An outcome without a machine is given its origin as machine, so that it counts for the same
    machine wherever it is merged.

    Raises:
        ValueError: The record holds numbers that are not finite.
    """
    if not record.measurement:
        record = msgspec.structs.replace(record, measurement=uuid.uuid4().hex)
    if isinstance(record, Outcome):
        origin = origin or record.origin
        machine = record.machine or origin
        record = msgspec.structs.replace(record, origin="", machine=machine)
    body = content(record)
    if _RECORDS.decode(body) != record:
        msg = "the record holds a number that is not finite"
        raise ValueError(msg)
    return Entry(id=hashlib.sha256(body).hexdigest(), origin=origin, record=record)


def write_line(entry: Entry) -> bytes:
    """The entry's line, with its newline."""
    origin = msgspec.json.encode(entry.origin)
    return b"".join(
        (b'{"id":"', entry.id.encode(), b'","origin":', origin, b',"record":',
         entry.raw or content(entry.record), b"}\n")
    )  # fmt: skip


def read_line(line: bytes) -> Entry:
    """The entry of a line; a bare record (written by hand) is given its id.

    Raises:
        ValueError: No record, a record altered since its id was made, or one of a newer kbs.
    """
    if len(line) > MAX_LINE_BYTES:
        msg = f"a line of {len(line)} bytes is no record"
        raise ValueError(msg)
    match = CANONICAL.match(line)
    if match is not None and has_its_id(line, match):
        raw = line[match.end() : -1]
        record = _record(raw)
        if content(record) == raw:
            return Entry(id=match[1].decode(), origin=match[2].decode(), record=record)
    return _strange(line)


def has_its_id(line: bytes, match: re.Match[bytes]) -> bool:
    """Whether the record of a line that begins as ``CANONICAL`` has the id that stands there."""
    if not line.endswith(b"}"):
        return False
    found = hashlib.sha256(memoryview(line)[match.end() : -1])
    return found.hexdigest().encode() == match[1]


def _strange(line: bytes) -> Entry:
    """The entry of a line that this kbs would write differently."""
    value: Any = decode_json(line)
    if not isinstance(value, dict):
        msg = "not a JSON object"
        raise ValueError(msg)  # noqa: TRY004 - a bad line is one kind of failure
    refuse_repeated(line)
    if "record" not in value:
        return _bare(value)
    try:
        found = _LINES.decode(line)
    except msgspec.ValidationError as problem:
        msg = "a line of the log has an id, an origin and a record, and nothing else"
        raise ValueError(msg) from problem
    raw = bytes(found.record)
    record = _record(raw)
    as_written = content(record)
    if hashlib.sha256(raw).hexdigest() == found.id:
        kept = b"" if raw == as_written else raw
        return Entry(id=found.id, origin=found.origin, record=record, raw=kept)
    if hashlib.sha256(as_written).hexdigest() != found.id or _unknown(record, value["record"]):
        msg = "the record does not have its id: it was altered after it was written"
        raise ValueError(msg)
    return Entry(id=found.id, origin=found.origin, record=record)


def unread(entry: Entry) -> list[str]:
    """Fields of a record that this kbs does not know: a later one wrote them."""
    return _unknown(entry.record, decode_json(entry.raw)) if entry.raw else []


def fields_of(record: Record | type[Any]) -> tuple[str, ...]:
    """Names of the fields of a record or of a kind of record."""
    return ("kind", *record.__struct_fields__)


def _unknown(record: Record, value: dict[str, Any]) -> list[str]:
    return sorted(value.keys() - set(fields_of(record)))


def _record(raw: bytes) -> Record:
    try:
        record = _RECORDS.decode(raw)
    except msgspec.ValidationError as problem:
        _refuse_newer(raw)
        raise ValueError(str(problem)) from problem
    if record.schema_version > SCHEMA_VERSION:
        _refuse_newer(raw)
    return record


class _Version(msgspec.Struct):
    schema_version: int = 0


def _refuse_newer(raw: bytes) -> None:
    """Say that a newer kbs wrote the record, if that is so."""
    try:
        version = decode_json(raw, _Version).schema_version
    except msgspec.ValidationError:
        return
    if version > SCHEMA_VERSION:
        msg = f"written by a newer kbs (schema {version}, this one reads {SCHEMA_VERSION}); upgrade"
        raise ValueError(msg)


def _bare(value: dict[str, Any]) -> Entry:
    if "kind" not in value and isinstance(value.get("optimization"), str):
        bare = {name: part for name, part in value.items() if name != "id"}
        value = {"kind": "legacy", "entry": bare, "measurement": "legacy-0"}
    record = _record(msgspec.json.encode(whole(value)))
    refuse_unknown(value, fields_of(record), "a record")
    origin = ""
    if isinstance(record, Outcome):
        origin = record.origin
        record = msgspec.structs.replace(record, origin="")
    return Entry(id=record_id(record), origin=origin, record=record)


def whole(value: dict[str, Any]) -> dict[str, Any]:
    """A record written by hand with what may be left out: it is an outcome, its chip tells arch."""
    value = {"kind": "outcome", **value}
    return {"arch": "", **value} if value["kind"] == "outcome" else value
