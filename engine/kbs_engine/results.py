"""What jobs answer: one record per job, decoded from ``Result.value`` by ``read``.

A candidate that fails honestly (wrong values, a crash, a timeout, a refused trick) is a
*value* with a ``reason`` code of ``kbs_engine.refusals``; ``Result.failure`` is for jobs that
could not be carried out at all (no nvcc, no GPU, an unreadable reference).
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec

from kbs_engine.errors import MeasurementError
from kbs_engine.jobs import Result
from kbs_engine.opcodes import FunctionListing
from kbs_engine.vocabulary import Dtype
from kbs_engine.work import Work

SCHEMA_VERSION = 1


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Probe."""

    device: Literal["cuda", "host"]
    gpu: str
    """Product name as the driver prints it; for ``host`` the CPU's."""
    gpu_uuid: str = ""
    arch: str = ""
    """``sm_90a``; empty for ``host``."""
    unit_count: int | None = None
    memory_bytes: int | None = None
    l2_bytes: int | None = None
    driver: str = ""
    counters: bool = False
    """Whether one real hardware counter could be read."""
    counters_why_not: str = ""
    tools: dict[str, str] = msgspec.field(default_factory=dict)
    """Version of each tool found: nvcc, ncu, cuobjdump, nvdisasm, compute-sanitizer."""
    versions: dict[str, str] = msgspec.field(default_factory=dict)


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Count."""

    work: Work
    flops_from: Literal["declared", "counted", "unknown"]
    bytes_from: Literal["declared", "counted", "unknown"]
    flops_by_dtype: dict[str, float] = msgspec.field(default_factory=dict)
    notes: tuple[str, ...] = ()


class CompileMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a compiler about the user's file."""

    severity: Literal["error", "warning", "note"]
    message: str
    line: int | None = None
    column: int | None = None
    text: str = ""
    """The line of the user's file."""


class KernelResources(msgspec.Struct, frozen=True, kw_only=True):
    """What one kernel of a source takes, as its compiler says."""

    kernel: str
    registers: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    shared_bytes: int | None = None
    stack_bytes: int | None = None
    threads_per_block: int | None = None
    """Known for Triton (32 × num_warps) and launch bounds."""


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Compile; ``ok`` is False with at least one error message."""

    ok: bool
    arch: str
    compiler: str
    messages: tuple[CompileMessage, ...] = ()
    resources: tuple[KernelResources, ...] = ()
    artifact_sha256: str = ""
    cached: bool = False

    def __post_init__(self) -> None:
        """A failed compilation says why."""
        if not self.ok and not any(m.severity == "error" for m in self.messages):
            msg = "a failed compilation without an error message"
            raise ValueError(msg)


class Disassembled(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Disassemble: functions with blocks, loops and opcodes."""

    arch: str
    tool: str
    functions: tuple[FunctionListing, ...]
    text_sha256: str = ""
    """The listing's text, in the blob store."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One round of a check."""

    distribution: str
    compared_elements: int
    ok: bool
    max_abs_err: float | None = None
    max_rel_err: float | None = None
    eager_max_abs_err: float | None = None
    """The same error of the eager reference in the kernel's own dtype."""
    output: str = ""
    """The output with the largest error."""


class OwnWork(msgspec.Struct, frozen=True, kw_only=True):
    """Whose kernels did the work, as far as it can be known.

    ``launched`` and ``operations`` are seen inside the candidate's process and so are its claim;
    ``without_libraries`` is a result that was compared.
    """

    launched: tuple[str, ...] = ()
    """Triton kernels of the candidate that one call launched."""
    operations: tuple[str, ...] = ()
    """Library operations that the call made, such as ``aten::mul``; moving data is none."""
    linked: tuple[str, ...] = ()
    """Functions of libraries that a compiled kernel calls."""
    without_libraries: bool | None = None
    """Whether the result was right while library operations failed; None: not asked for."""
    why_not: str = ""
    """Why nothing could be seen."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Check."""

    passed: bool
    reason: str | None = None
    """A code of ``kbs_engine.refusals``; None exactly when passed."""
    detail: str = ""
    atol: float | None = None
    rtol: float | None = None
    tolerance_from: str = ""
    """``command line``, ``reference`` or ``derived from fp16, reduction of 4096``."""
    rounds: tuple[Round, ...] = ()
    warnings: tuple[str, ...] = ()
    """Codes of static rules: a warning layer only."""
    elapsed_s: float | None = None
    work: OwnWork | None = None
    """Whose kernels did the work; None where it was not looked at."""

    def __post_init__(self) -> None:
        """Passed means rounds that all hold and no reason."""
        if self.passed == (self.reason is not None):
            msg = "a check has a reason exactly when it did not pass"
            raise ValueError(msg)
        if self.passed and not (self.rounds and all(r.ok for r in self.rounds)):
            msg = "a check that passed without compared rounds"
            raise ValueError(msg)


class ToolVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One sanitizer tool: clean, faults, or why it was not run."""

    tool: str
    ran: bool
    errors: int = 0
    detail: str = ""


class Sanitized(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Sanitize."""

    tools: tuple[ToolVerdict, ...]

    @property
    def clean(self) -> bool | None:
        """True or False of what ran; None when nothing ran."""
        ran = [tool for tool in self.tools if tool.ran]
        return all(tool.errors == 0 for tool in ran) if ran else None


class ArmTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of one arm. ``reason`` is set when the arm was refused: then nothing is claimed."""

    name: str
    """File name or baseline name."""
    sha256: str = ""
    samples_ns: tuple[float, ...] = ()
    """Device time of single calls, in order, the discarded ones left out."""
    process: tuple[int, ...] = ()
    """For every sample, the process pair that it came from."""
    position: tuple[int, ...] = ()
    """For every sample, its place in the interleaved order of its process pair."""
    host_ns: tuple[float, ...] = ()
    """The second clock's time of the same calls."""
    cold_first_call_ns: float | None = None
    reason: str | None = None
    detail: str = ""
    floor_ns: float | None = None
    """The physics floor that was applied; None where none is known."""


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Time: the arms in the order of the job."""

    arms: tuple[ArmTimes, ...]
    timer: str
    order: str = "ABBA"
    verified: bool = True
    """Whether every timed output was compared."""
    clocks_before_mhz: dict[str, float] = msgspec.field(default_factory=dict)
    clocks_after_mhz: dict[str, float] = msgspec.field(default_factory=dict)
    gpu_time_s: float | None = None
    """GPU seconds that the whole job took, warm-up and checks included."""
    warnings: tuple[str, ...] = ()


class Collected(msgspec.Struct, frozen=True, kw_only=True):
    """What one pass of a profiler asked for: it may be more than its job names."""

    sections: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    """In the vendor's words."""
    arguments: tuple[str, ...] = ()
    """What the program read that the command had started before the job; empty: the command
    holds them itself."""


class Profiled(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of ProfileJob: the report's file in the blob store."""

    mode: Literal["ncu", "rocprof", "counter-free"]
    report_sha256: str = ""
    report_name: str = ""
    """File name with its suffix, by which readers know the format."""
    passes: int = 1
    command: tuple[str, ...] = ()
    log: str = ""
    notes: tuple[str, ...] = ()
    collected: Collected | msgspec.UnsetType = msgspec.UNSET
    """Not written where it is not known: answers of before keep their keys."""

    @property
    def sections(self) -> tuple[str, ...]:
        """Sections that are known to have been collected."""
        return self.collected.sections if isinstance(self.collected, Collected) else ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that are known to have been collected by name."""
        return self.collected.metrics if isinstance(self.collected, Collected) else ()


class MeasuredCeiling(msgspec.Struct, frozen=True, kw_only=True):
    """One measured ceiling."""

    metric: str
    value: float
    unit: str
    dtype: Dtype | None = None
    how: str = ""


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of Ceiling."""

    values: tuple[MeasuredCeiling, ...]


R = TypeVar("R")

KINDS: dict[str, type[Any]] = {
    "probe": Machine, "count": Counted, "compile": Compiled, "disassemble": Disassembled,
    "check": Checked, "sanitize": Sanitized, "time": Timed, "profile": Profiled,
    "ceiling": Ceilings,
}  # fmt: skip
"""The record that answers each kind of job (its tag)."""


def read(result: Result, kind: type[R]) -> R:
    """The value of ``result`` as ``kind``; MeasurementError for a failure or a damaged value."""
    if result.value is None:
        told = result.failed
        if told is None:
            raise MeasurementError(f"{result.kind}: {result.failure}")
        raise MeasurementError(told.message, where=told.where, remedy=told.remedy)
    try:
        return msgspec.convert(result.value, kind)
    except msgspec.ValidationError as problem:
        raise MeasurementError(
            f"{result.kind}: the answer is no {kind.__name__}: {problem}",
            remedy="measure or record it again: it is damaged, or of another version",
        ) from problem
