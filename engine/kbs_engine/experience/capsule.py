"""A capsule: the two kernels of a claim, what was measured of them, their reference and settings.

A zip archive with ``manifest.json`` first and the files that it names by hash; stored without
compression and without dates, so that one run packed twice gives the same bytes. Nothing of it
is ever unpacked to a path: files are read by the names of the manifest alone.
"""

from __future__ import annotations

import hashlib
import io
import math
import zipfile
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from kbs_engine.decoding import decode_json
from kbs_engine.errors import InputError
from kbs_engine.experience.agreement import disagreement
from kbs_engine.jobs import SourceRef, Task, TimingSettings
from kbs_engine.vocabulary import Family, Language

SCHEMA_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
MAX_BYTES: Final = 64 << 20
_NEVER: Final = (1980, 1, 1, 0, 0, 0)
_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What the run says of its champion."""

    ratio: float
    """Time of v0 over time of the champion, with its interval."""
    low: float
    high: float
    v0_ns: float | None = None
    champion_ns: float | None = None
    noise: float = 0.02

    def __post_init__(self) -> None:
        """Times and their ratios are above zero; the noise is a share of time."""
        for name in ("ratio", "low", "high", "v0_ns", "champion_ns"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} of a claim is above zero, got {value:g}")
        if not 0.0 <= self.noise < 1.0:
            raise ValueError(f"noise is a share of time from 0 to below 1, got {self.noise:g}")


class Capsule(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest."""

    schema_version: int = SCHEMA_VERSION
    kbs_version: str = ""
    run: str
    version: int
    """The version of the champion."""
    language: Language
    kernel: Family = "other"
    chip: str = ""
    arch: str = ""
    gpu: str = ""
    task: Task
    timing: TimingSettings
    process_pairs: int = 3
    check_rounds: int = 10
    v0: SourceRef
    champion: SourceRef
    claim: Claim
    methods: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    """Ids of the outcomes in the experience log for which a replication speaks."""
    provenance: dict[str, Any] = {}
    files: dict[str, str]
    """Name in the archive to SHA-256."""


class Opened(NamedTuple):
    """A capsule that was read: its id, manifest and files by hash."""

    id: str
    manifest: Capsule
    files: dict[str, bytes]


def pack(manifest: Capsule, files: Mapping[str, bytes]) -> bytes:
    """The archive's bytes; ``files`` by name, exactly those of the manifest.

    Raises:
        ValueError: A file is missing or does not have its hash.
    """
    if {name: _sha256(data) for name, data in files.items()} != manifest.files:
        msg = "the files of a capsule are those of its manifest"
        raise ValueError(msg)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in ((MANIFEST, _ENCODER.encode(manifest)), *sorted(files.items())):
            info = zipfile.ZipInfo(name, date_time=_NEVER)
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return buffer.getvalue()


def unpack(data: bytes, where: str) -> Opened:
    """Read a capsule.

    Raises:
        InputError: It is damaged, altered, too large or of a newer kbs, or its parts do not
            agree: kernels, what was measured of them, and the claim.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = _member(archive, MANIFEST, where)
            manifest = _manifest(text, where)
            named = {name: _member(archive, name, where) for name in manifest.files}
    except (
        zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError,
        UnicodeDecodeError,
    ) as problem:  # fmt: skip
        raise _bad(f"is no capsule: {problem}", where) from problem
    for name, content in named.items():
        if _sha256(content) != manifest.files[name]:
            raise _bad(f"{name} does not have the hash that the manifest states", where)
    files = {_sha256(content): content for content in named.values()}
    wanted = (manifest.v0.sha256, manifest.champion.sha256, manifest.task.reference_sha256)
    if not all(sha256 in files for sha256 in wanted):
        raise _bad("a kernel or the reference is missing", where)
    fault = disagreement(manifest, named)
    if fault:
        raise _bad(f"its parts do not agree: {fault}", where)
    return Opened(_sha256(text), manifest, files)


def _member(archive: zipfile.ZipFile, name: str, where: str) -> bytes:
    try:
        info = archive.getinfo(name)
    except KeyError as problem:
        raise _bad(f"{name} is missing", where) from problem
    if info.file_size > MAX_BYTES:
        raise _bad(f"{name} of {info.file_size} bytes is no kernel", where)
    with archive.open(info) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise _bad(f"{name} is larger than it says", where)
    return content


class _Version(msgspec.Struct):
    schema_version: int


def _manifest(text: bytes, where: str) -> Capsule:
    try:
        version = decode_json(text, _Version).schema_version
        if version > SCHEMA_VERSION:
            raise InputError(
                f"was written by a newer kbs (schema {version}, this one reads {SCHEMA_VERSION})",
                where=where,
                remedy="upgrade kbs",
            )
        return decode_json(text, Capsule)
    except (msgspec.DecodeError, ValueError) as problem:
        raise _bad(f"its manifest cannot be read: {problem}", where) from problem


def _bad(message: str, where: str) -> InputError:
    return InputError(message, where=where, remedy="pack it again with `kbs capsule RUN`")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
