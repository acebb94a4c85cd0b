"""The memory folder: one record per version. Masked records stay on disk and out of every plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from kbs_engine.durable import make_folder, write_whole
from kbs_engine.errors import InputError, RefusedError, UsageError
from kbs_engine.numerals import read_integer, shortened, storable
from kbs_engine.run.files import as_json, read_record
from kbs_engine.run.legacy_memory import modern
from kbs_engine.run.memory_record import MemoryRecord

_NAME = re.compile(r"^v(\d+)\.json$")


class Memory:
    """Records of one memory folder. Everything that plans reads through ``visible``."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; nothing is read yet."""
        self.folder = folder

    def init(self) -> None:
        """Make the folder; one that is there stays as it is."""
        make_folder(self.folder)

    def path(self, version: int) -> Path:
        """The file of a version's record."""
        return self.folder / f"v{version}.json"

    def versions(self) -> tuple[int, ...]:
        """Numbers of all records, masked ones too."""
        if not self.folder.is_dir():
            raise InputError(
                "no memory folder stands here",
                where=str(self.folder),
                remedy="make it with `kbs memory init RUN`",
            )
        found = (_NAME.match(path.name) for path in self.folder.iterdir())
        return tuple(sorted(int(match[1]) for match in found if match))

    def load(self, version: int) -> MemoryRecord:
        """A record whether masked or not: for the mask itself and for people, never for plans."""
        path = self.path(version)
        if not path.exists():
            raise InputError(
                f"no record of v{version}",
                where=str(path),
                remedy=f"records: {', '.join(f'v{n}' for n in self.versions()) or 'none'}",
            )
        record = read_record(path, MemoryRecord, before=modern)
        if record.version != version:
            raise InputError(
                f"is the record of v{record.version}",
                where=str(path),
                remedy="name the file after its version",
            )
        return record

    def read(self, version: int) -> MemoryRecord:
        """A record that may influence a plan; RefusedError when it is masked."""
        record = self.load(version)
        if record.masked:
            raise RefusedError(
                f"the record of v{version} is masked: it counts as discarded",
                where=str(self.path(version)),
                remedy="`kbs memory unmask` takes the mask off; --masked shows it all the same",
            )
        return record

    def visible(self) -> tuple[MemoryRecord, ...]:
        """All records that are not masked, in order of version."""
        return tuple(row for row in map(self.load, self.versions()) if not row.masked)

    def latest(self) -> MemoryRecord:
        """The newest record that is not masked; RefusedError when there is none."""
        rows = self.visible()
        if not rows:
            raise RefusedError(
                "no record that is not masked",
                where=str(self.folder),
                remedy="create one with `kbs memory create`, or take a mask off",
            )
        return rows[-1]

    def create(self, record: MemoryRecord) -> None:
        """Write a new record; RefusedError where one stands, for records are never overwritten."""
        if self.path(record.version).exists():
            raise RefusedError(
                f"a record of v{record.version} stands already",
                where=str(self.path(record.version)),
                remedy="change fields of it with `kbs memory update --set a.b=value`",
            )
        write_whole(self.path(record.version), as_json(record))

    def replace(self, record: MemoryRecord) -> None:
        """Write a record, whatever stands in its place."""
        write_whole(self.path(record.version), as_json(record))

    def update(self, version: int, changes: Mapping[str, Any]) -> MemoryRecord:
        """Set fields by dotted path; what does not fit the record is refused, nothing written."""
        record = changed(self.load(version), changes)
        write_whole(self.path(version), as_json(record))
        return record

    def set_mask(self, versions: Iterable[int], *, masked: bool) -> tuple[int, ...]:
        """Mask or unmask records; the versions that changed. All are there, or none is changed."""
        records = [self.load(version) for version in versions]
        changed = [row for row in records if row.masked != masked]
        for row in changed:
            record = msgspec.structs.replace(row, masked=masked)
            write_whole(self.path(row.version), as_json(record))
        return tuple(row.version for row in changed)

    def middle_half(self, best: int) -> tuple[int, ...]:
        """Every second visible record between the first and the last, never v0 nor ``best``.

        What a partial restart masks: about half of the memory, spread over the run.
        """
        rows = [row.version for row in self.visible() if row.version not in (0, best)]
        return tuple(rows[::2])


def changed(record: MemoryRecord, changes: Mapping[str, Any]) -> MemoryRecord:
    """A record with fields set by dotted path; UsageError for what does not fit it."""
    plain = msgspec.json.decode(msgspec.json.encode(record))
    for path, value in changes.items():
        if path in ("version", "schema_version", "masked"):
            raise UsageError(
                f"{path} is not set by hand", remedy="use mask and unmask for `masked`"
            )
        _set(plain, path, value)
    try:
        return msgspec.convert(plain, MemoryRecord)
    except msgspec.ValidationError as problem:
        raise UsageError(
            f"does not fit the record: {problem}", remedy="see docs/gate.md, memory records"
        ) from problem


def parse_setting(text: str) -> tuple[str, Any]:
    """``a.b=value``; the value is JSON where it reads as JSON, else the text itself."""
    path, sign, value = text.partition("=")
    if not sign or not path.strip():
        raise UsageError(f"{text!r} sets nothing", remedy="write --set performance.latency_us=41.5")
    try:
        read = json.loads(value, parse_int=read_integer)
    except (json.JSONDecodeError, RecursionError):
        return path.strip(), value
    if not storable(read):
        raise UsageError(
            f"{path.strip()} cannot become {shortened(read)}", where="--set",
            remedy="give numbers of at most 64 bits, neither infinite nor nan",
        )  # fmt: skip
    return path.strip(), read


def _set(plain: dict[str, Any], path: str, value: Any) -> None:
    """Set one field; UsageError for a path that the record does not have."""
    place: Any = plain
    *parents, last = path.split(".")
    for depth, name in enumerate(parents):
        place = place[_key(place, name, ".".join(parents[: depth + 1]))]
    key = _key(place, last, path, new=bool(parents) and _free(parents))
    if isinstance(place, list) and key == len(place):
        place.append(value)
    else:
        place[key] = value


def _free(parents: list[str]) -> bool:
    """Whether the field holds keys of the user's choice."""
    return parents[-1] in ("latency_us_by_shape", "extra")


def _key(place: Any, name: str, path: str, *, new: bool = False) -> Any:
    if isinstance(place, dict) and (new or name in place):
        return name
    if isinstance(place, list) and name.isdecimal() and int(name) <= len(place):
        return int(name)
    raise UsageError(
        f"a memory record has no field {path!r}",
        remedy="fields: " + ", ".join(MemoryRecord.__struct_fields__),
    )
