"""What a recording of the case studies holds: OUT/cases.json, one record per case."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

SCHEMA_VERSION = 1


class Factor(msgspec.Struct, frozen=True, kw_only=True):
    """How many times faster the champion is than something: ratio of times and its interval."""

    ratio: float
    low: float
    high: float
    verdict: str


class Gain(msgspec.Struct, frozen=True, kw_only=True):
    """One method of one version: what was predicted and what its ablation showed."""

    version: int
    method: str
    predicted_low: float | None
    predicted_high: float | None
    """Share of time that it was said to return, an 80 % interval."""
    realised: float | None
    low: float | None
    high: float | None
    verdict: str
    opcodes: str


Start = Literal["champion", "v0"]


class Searched(msgspec.Struct, frozen=True, kw_only=True):
    """Another way to spend the same GPU seconds."""

    how: str
    """``random`` or ``autotune``."""
    start: Start = "champion"
    """Whose tunables were searched: those of the champion's source or of v0."""
    gpu_seconds: float
    tried: int
    """Assignments measured."""
    wrong: int = 0
    space: int = 1
    best_ns: float | None = None
    tunables: dict[str, Any] = {}
    trace: tuple[tuple[float, float], ...] = ()
    """GPU seconds spent and the best time (ns) after each block."""
    champion: Factor | None = None
    """The champion of ``kbs optimize`` against what this found, in one interleaved timing."""
    skipped: str = ""
    """Why it was not done."""

    @property
    def found_gpu_seconds(self) -> float | None:
        """GPU time until what it found was timed."""
        return next((spent for spent, best in self.trace if best == self.best_ns), None)


class CaseRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One case: what ``kbs optimize`` made of it, and what it is compared with."""

    id: str
    date: str
    device: str
    """``cuda`` or ``host``; what a host measured is no claim about a GPU."""
    gpu: str = ""
    chip: str = ""
    driver: str = ""
    versions: dict[str, str] = {}
    knowledge: bool = True
    command: str = ""
    dims: dict[str, Any] = {}
    error: str = ""
    """Why there is no result; empty where there is one."""
    incomplete: str = ""
    """What went wrong after the run ended: a bench or a comparison; the run itself stands."""
    ended: str = ""
    because: str = ""
    improved: bool = False
    v0_ns: float | None = None
    best_ns: float | None = None
    over_v0: Factor | None = None
    over_eager: Factor | None = None
    over_compile: Factor | None = None
    over_flashinfer: Factor | None = None
    not_compared: dict[str, str] = {}
    """Baselines that could not be timed, each with the reason."""
    vendor: str = ""
    """What stands for the vendor library, in words."""
    over_vendor: Factor | None = None
    roof_ns: float | None = None
    """Time of the largest cited roof of the task, with an empty launch where that is known."""
    gpu_seconds: float = 0.0
    """GPU time of the whole run: races, proofs, ablations and the final benchmark."""
    found_gpu_seconds: float | None = None
    """GPU time from the start of the run until its best version was proven and passed its gate."""
    gpu_seconds_allowed: float | None = None
    samples: int = 0
    """Timed calls of the searches."""
    variants: int = 0
    """Variants that the searches proposed."""
    iterations: int = 0
    """Versions tried after v0."""
    best_version: int = 0
    origin: tuple[str, ...] = ()
    """What the champion is made of: ``template NAME``, ``rewrite ID``, ``tunables``."""
    confirmed: tuple[str, ...] = ()
    """Methods of the champion whose verdict is effective."""
    gains: tuple[Gain, ...] = ()
    compared: tuple[Searched, ...] = ()
    wall_s: float = 0.0

    @property
    def roof_share(self) -> float | None:
        """Share (0–1) of the cited roof that the champion reaches."""
        return self.roof_ns / self.best_ns if self.roof_ns and self.best_ns else None


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """All of cases.json."""

    schema_version: int = SCHEMA_VERSION
    dry: bool = False
    """Made on a CPU at small dims: it proves the script and no figure."""
    cases: dict[str, CaseRecord] = {}
    with_others: dict[str, CaseRecord] = {}
    """Runs that other searches were compared with, with budgets of their own."""
    without_knowledge: dict[str, CaseRecord] = {}
    """The same cases with ``--knowledge off``."""


def read_recording(path: Path) -> Recording:
    """The recording of a file; an empty one where there is none."""
    if not path.is_file():
        return Recording()
    return msgspec.json.decode(path.read_bytes(), type=Recording)


def add_case(path: Path, record: CaseRecord, *, dry: bool) -> None:
    """Put one case into the file, which is replaced whole: the others are never lost."""
    from kbs_engine.durable import write_whole

    old = read_recording(path)
    name = "with_others" if record.compared else "cases"
    name = name if record.knowledge else "without_knowledge"
    rows = {**getattr(old, name), record.id: record}
    new = msgspec.structs.replace(old, dry=dry, **{name: rows})
    write_whole(path, msgspec.json.format(msgspec.json.encode(new), indent=1) + b"\n")
