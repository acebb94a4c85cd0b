"""Jobs for a device, as data. Secrets (input seeds) are never part of a job.

A job is identified by the hash of its content, so that a result recorded on real hardware
can be replayed where there is none.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from kbs_engine.vocabulary import Language

SCHEMA_VERSION = 1


class SourceRef(msgspec.Struct, frozen=True, kw_only=True):
    """A source file by content, with its variant."""

    sha256: str
    language: Language
    name: str
    tunables: dict[str, Any] = msgspec.field(default_factory=dict)
    switches: dict[str, bool] = msgspec.field(default_factory=dict)


class Job(msgspec.Struct, frozen=True, kw_only=True, tag_field="job"):
    """Base of all jobs."""

    @property
    def key(self) -> str:
        """Content hash: equal jobs have equal keys on every machine."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class Probe(Job, frozen=True, kw_only=True, tag="probe"):
    """What is this machine."""


class Count(Job, frozen=True, kw_only=True, tag="count"):
    """Work of the reference: FLOPs by precision, compulsory bytes in and out."""

    reference_sha256: str
    dims: dict[str, int]


class Compile(Job, frozen=True, kw_only=True, tag="compile"):
    """Compile one source for one target."""

    source: SourceRef
    arch: str
    flags: tuple[str, ...] = ()


class Disassemble(Job, frozen=True, kw_only=True, tag="disassemble"):
    """Machine code of one compiled source."""

    source: SourceRef
    arch: str


class Check(Job, frozen=True, kw_only=True, tag="check"):
    """Correctness of one source against the reference."""

    source: SourceRef
    reference_sha256: str
    dims: dict[str, int]
    atol: float | None = None
    rtol: float | None = None
    rounds: int = 10


class Sanitize(Job, frozen=True, kw_only=True, tag="sanitize"):
    """One compute-sanitizer pass."""

    source: SourceRef
    dims: dict[str, int]
    tools: tuple[str, ...] = ("memcheck", "racecheck", "initcheck")


class Time(Job, frozen=True, kw_only=True, tag="time"):
    """Interleaved timing of one or more sources."""

    sources: tuple[SourceRef, ...]
    reference_sha256: str
    dims: dict[str, int]
    method: str = "cuda_event"
    warmup: int = 5
    trials: int = 100
    block: int = 0


class ProfileJob(Job, frozen=True, kw_only=True, tag="profile"):
    """Hardware counters around exactly one call."""

    source: SourceRef
    reference_sha256: str
    dims: dict[str, int]
    sections: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


class Ceiling(Job, frozen=True, kw_only=True, tag="ceiling"):
    """Measured bandwidth and arithmetic ceilings, and the time of an empty launch."""

    dtypes: tuple[str, ...] = ()


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """On what a result was measured."""

    gpu: str = ""
    gpu_uuid: str = ""
    driver: str = ""
    toolchain: str = ""
    clocks_mhz: dict[str, float] = msgspec.field(default_factory=dict)
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    date: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a device answered: a value, or the reason why there is none; never both."""

    job_key: str
    kind: str
    value: dict[str, Any] | None = None
    failure: str | None = None
    stderr: str = ""
    provenance: Provenance = Provenance()

    def __post_init__(self) -> None:
        """Exactly one of value and failure."""
        if (self.value is None) == (self.failure is None):
            msg = f"a result of {self.kind} has a value or a failure, not both or neither"
            raise ValueError(msg)
