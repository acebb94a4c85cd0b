"""Jobs for a device, as data. Secrets (input seeds) are never part of a job.

A job is identified by the hash of its content, so that a result recorded on real hardware
can be replayed where there is none.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, Literal

import msgspec

from kbs_engine.vocabulary import Dtype, Language

SCHEMA_VERSION = 2

TimingMethod = Literal["cuda_event", "host_time", "do_bench"]
BaselineName = Literal["pytorch-eager", "torch-compile", "flashinfer"]


class SourceRef(msgspec.Struct, frozen=True, kw_only=True, tag_field="arm", tag="source"):
    """A kernel source by content. The text is the variant; tunables and switches describe it."""

    sha256: str
    language: Language
    name: str
    """File name, for messages; no folder."""
    tunables: dict[str, Any] = msgspec.field(default_factory=dict)
    switches: dict[str, bool] = msgspec.field(default_factory=dict)


class BaselineRef(msgspec.Struct, frozen=True, kw_only=True, tag_field="arm", tag="baseline"):
    """The reference itself as one side of a timing, run eagerly, compiled or by a library."""

    name: BaselineName


Arm = SourceRef | BaselineRef


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be computed: a reference by content, its dims, and what counts as right."""

    reference_sha256: str
    dims: dict[str, int | float | str | bool]
    atol: float | None = None
    """None: the reference's own, else derived from dtype and reduction length."""
    rtol: float | None = None
    outputs: tuple[str, ...] = ()
    """Names of output arguments where nothing else tells them."""
    ptr_size: int | None = None
    """Elements of each pointer argument when neither setup() nor dims say it."""
    permitted: tuple[Dtype, ...] = ()
    """Precisions in which the arithmetic may be done, beyond the data type of the inputs."""
    setup: SourceRef | None = None
    """The baseline kernel, whose setup() (or ``solve`` signature) gives the inputs where the
    reference has no setup() of its own; pinned here so that no candidate decides it."""


LEAST_SAMPLES: Final = 3
"""Calls that must remain of an arm in each process: fewer say nothing about two clocks."""
MOST_TRIALS: Final = 1_000_000
MOST_CHECK_ROUNDS: Final = 10_000
MOST_PROCESS_PAIRS: Final = 20
"""More than these are a slip of the keyboard: nobody waits for them."""


class TimingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How calls are timed (docs/measuring.md)."""

    method: TimingMethod = "cuda_event"
    warmup_calls: int = 5
    warmup_ms: float = 25.0
    trials: int = 100
    discard_first: int = 1
    prewarm_calls: int = 1

    def __post_init__(self) -> None:
        """Samples enough for the second clock must remain."""
        least = LEAST_SAMPLES + max(self.discard_first, 0)
        if self.trials < least:
            msg = (
                f"{self.trials} trials, {self.discard_first} of them discarded, are too few: at "
                f"least {least}, for two clocks are compared over {LEAST_SAMPLES} calls"
            )
            raise ValueError(msg)
        for name in ("discard_first", "warmup_calls", "prewarm_calls", "warmup_ms"):
            value = getattr(self, name)
            if not 0 <= value <= MOST_TRIALS:
                raise ValueError(f"{name} is 0 to {MOST_TRIALS}, got {value}")
        if self.trials > MOST_TRIALS:
            raise ValueError(f"trials is at most {MOST_TRIALS}, got {self.trials}")


class Job(msgspec.Struct, frozen=True, kw_only=True, tag_field="job"):
    """Base of all jobs."""

    @property
    def key(self) -> str:
        """Content hash: equal jobs have equal keys on every machine.

        Of the job as it is read back: 25 and 25.0 milliseconds are equal.
        """
        read_back = msgspec.json.decode(msgspec.json.encode(self), type=type(self))
        return hashlib.sha256(msgspec.json.encode(read_back, order="deterministic")).hexdigest()


class Probe(Job, frozen=True, kw_only=True, tag="probe"):
    """What is this machine."""


class Count(Job, frozen=True, kw_only=True, tag="count"):
    """Work of the reference: FLOPs by precision, compulsory bytes in and out."""

    task: Task


class Compile(Job, frozen=True, kw_only=True, tag="compile"):
    """Compile one source for one target (``sm_90a``, ``gfx942``); needs no GPU."""

    source: SourceRef
    arch: str
    flags: tuple[str, ...] = ()
    task: Task | None = None
    """Where the language compiles per argument types (Triton), what the arguments are."""


class Disassemble(Job, frozen=True, kw_only=True, tag="disassemble"):
    """Machine code of one source for one target."""

    source: SourceRef
    arch: str
    task: Task | None = None


class Check(Job, frozen=True, kw_only=True, tag="check"):
    """Correctness of one source against the reference, in rounds with secret seeds."""

    source: SourceRef
    task: Task
    rounds: int = 10


class Sanitize(Job, frozen=True, kw_only=True, tag="sanitize"):
    """One compute-sanitizer pass."""

    source: SourceRef
    task: Task
    tools: tuple[str, ...] = ("memcheck", "racecheck", "initcheck")


class Time(Job, frozen=True, kw_only=True, tag="time"):
    """Interleaved timing of one or more arms; every timed output is verified.

    ``block`` numbers repeated blocks of one race, so that each is a job of its own.
    """

    arms: tuple[Arm, ...]
    task: Task
    settings: TimingSettings = TimingSettings()
    block: int = 0
    fresh_processes: int = 1
    """Process pairs: every pair starts the candidates anew (three for a final claim)."""

    def __post_init__(self) -> None:
        """Something must be timed."""
        if not self.arms:
            msg = "a timing job without arms"
            raise ValueError(msg)


class ProfileJob(Job, frozen=True, kw_only=True, tag="profile"):
    """Hardware counters around exactly one call."""

    source: SourceRef
    task: Task
    sections: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()


class Ceiling(Job, frozen=True, kw_only=True, tag="ceiling"):
    """Measured bandwidth and arithmetic ceilings, and the time of an empty launch."""

    dtypes: tuple[Dtype, ...] = ()


AnyJob = Probe | Count | Compile | Disassemble | Check | Sanitize | Time | ProfileJob | Ceiling
"""Every job, for decoding: ``msgspec.json.decode(data, type=AnyJob)``."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """On what a result was measured."""

    device: str = ""
    """``cuda``, ``host`` (a CPU: never a claim about a GPU) or ``recorded``."""
    gpu: str = ""
    gpu_uuid: str = ""
    driver: str = ""
    toolchain: str = ""
    clocks_mhz: dict[str, float] = msgspec.field(default_factory=dict)
    temperature_c: float | None = None
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    date: str = ""
    """ISO 8601, UTC."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of ``Result.failure``, as those of an error (``kbs_engine.errors``)."""

    message: str
    where: str = ""
    remedy: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a device answered: a value, or the reason why there is none; never both.

    ``value`` is one of the records of ``kbs_engine.results`` as builtins; ``results.read``
    turns it back.
    """

    job_key: str
    kind: str
    value: dict[str, Any] | None = None
    failure: str | None = None
    """What went wrong, in a sentence that says the remedy."""
    failed: Failure | None = None
    """The same in parts, where the device knows them."""
    stderr: str = ""
    provenance: Provenance = Provenance()

    def __post_init__(self) -> None:
        """Exactly one of value and failure."""
        if (self.value is None) == (self.failure is None):
            msg = f"a result of {self.kind} has a value or a failure, not both or neither"
            raise ValueError(msg)

    @property
    def device_seconds(self) -> float | None:
        """Seconds of the device that it took: of a check all that it lasted; None: not told."""
        value = self.value or {}
        lasted = value.get("elapsed_s") if "rounds" in value else None
        return value.get("gpu_time_s") or lasted
