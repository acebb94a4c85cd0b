"""What a run knows while it goes: built from its answers alone, thrown away when it stops."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.jobs import Result, SourceRef, Task
from kbs_engine.loop.actions import Begin, Note, Progress, PutFile, SaveState, Stage
from kbs_engine.loop.asks import Advice, Ask, Described
from kbs_engine.loop.parts import Offered
from kbs_engine.results import Checked, Compiled, Counted, Disassembled, Machine, Profiled, Timed
from kbs_engine.run.files import as_json
from kbs_engine.run.records import Epoch, Settings, State, VersionEntry, with_version
from kbs_engine.run.state import MethodVerdict, ToleranceUsed

BLOCKS_PER_VERSION = 1000
FINAL_BLOCK = 1_000_000_000

Steps = Generator["Ask | Note", Any, Any]
"""A part of the loop: yields asks and notes, is sent answers (None for a note)."""


class Facts(msgspec.Struct, kw_only=True):
    """What was measured of one version."""

    number: int
    base: int | None
    source: SourceRef
    methods: tuple[str, ...] = ()
    """Methods that came in with this version."""
    inherited: tuple[str, ...] = ()
    origin: str = ""
    """Where a version without a method of its own comes from, where it was not tuned alone."""
    template: str = ""
    """The template that it starts from, where its one method is that."""
    checked: Checked | None = None
    check: Result | None = None
    timed: Timed | None = None
    time: Result | None = None
    median_ns: float | None = None
    compiled: Compiled | None = None
    listing: Disassembled | None = None
    profiled: Profiled | None = None
    profile: Result | None = None
    second: Result | None = None
    """The second pass of the profiler, where the first left rivals."""
    sanitized: Result | None = None
    advice: Advice | None = None
    tried: tuple[dict[str, Any], ...] = ()
    """Tunable assignments measured on this source."""
    faster: Offered | None = None
    """The version without methods that its ablation found harmful; None once it was offered."""
    unwritten: dict[str, str] = msgspec.field(default_factory=dict)
    """Methods planned for this version that nobody wrote a kernel with, each with why."""

    @property
    def applied(self) -> tuple[str, ...]:
        """Every method that the source has."""
        return tuple(dict.fromkeys((*self.inherited, *self.methods)))


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What counted when a version passed its gate: it counts again where the next is given up."""

    best: int
    best_ns: float | None
    verdicts: tuple[MethodVerdict, ...]


class Constraints(msgspec.Struct, frozen=True, kw_only=True):
    """An epoch as it was before the next began: it goes on where that one cannot."""

    epoch: int
    settings: Settings
    tolerance: ToleranceUsed | None
    attempts: int
    counted: Counted | None
    described: Described
    baselines: dict[str, float]
    check: Result | None
    """v0's under them, and its time."""
    median_ns: float | None


class Ledger:
    """The run so far. Only the script changes it, only from answers."""

    def __init__(self, begin: Begin) -> None:
        """A run that knows nothing yet but its settings."""
        self.begin = begin
        self.settings: Settings = begin.settings
        self.machine: Machine | None = None
        self.counted: Counted | None = None
        self.described = Described()
        self.chip: Chip | None = None
        self.versions: dict[int, Facts] = {}
        self.masked: set[int] = set()
        """Versions whose record no plan may rest on."""
        self.planned: set[int] = set()
        """Versions that a planned change leaves; a run that stops there keeps those notes."""
        self.finishing = False
        """Whether a person asked for the reports now."""
        self.remeasure = False
        """Whether the constraints changed, so that v0 and the best are measured again next."""
        self.best = 0
        self.attempts = 0
        self.allowed = begin.settings.iterations
        self.blocks: dict[int, int] = {}
        """Timing jobs so far, by version."""
        self.finals = 0
        self.dearest = 0.0
        """GPU seconds of the dearest version so far, without the further rounds of its search."""
        self.further = 0.0
        """GPU seconds of the rounds after the first, of the version that is being made."""
        self.checks: dict[bool, float] = {}
        """GPU seconds of the dearest correctness check of v0 (False) and of candidates (True)."""
        self.units: dict[int, float] = {}
        """GPU seconds of an arm in one process, the dearest of all versions' timings in so many
        process pairs: a job has costs of its own, so that one of several pairs is cheaper."""
        self.kept: Kept | None = None
        """What counted when a version passed its gate last."""
        self.before: Constraints | None = None
        """The epoch before this one; None in the first."""
        self.taken_back = ""
        """Why constraints were taken back and the run ends; empty where they were not."""
        self.orders = 0
        self.baselines: dict[str, float] = {}
        """Median time of each library baseline, in ns."""
        self.state = State(
            run_id=begin.run_id,
            name=begin.name,
            created_at=begin.created_at,
            kbs_version=begin.kbs_version,
            settings=begin.settings,
            epochs=(
                Epoch(
                    number=0,
                    first_version=0,
                    settings=begin.settings,
                    began_at=begin.created_at,
                ),
            ),
            reference_sha256=begin.reference_sha256,
            baseline_sha256=begin.baseline.sha256,
            baseline_file=begin.baseline.name,
        )

    @property
    def task(self) -> Task:
        """The task under the settings of this epoch."""
        chosen = self.settings
        return Task(
            reference_sha256=self.begin.reference_sha256,
            dims=chosen.dims,
            atol=chosen.atol,
            rtol=chosen.rtol,
            outputs=chosen.outputs,
            ptr_size=chosen.ptr_size,
            permitted=chosen.permitted,
            setup=self.begin.baseline,
        )

    @property
    def arch(self) -> str:
        """The target of compilation; empty where nothing is compiled ahead (a host)."""
        return self.machine.arch if self.machine else ""

    @property
    def counters(self) -> bool:
        """Whether hardware counters can be read."""
        return self.settings.mode == "counters"

    def version_of(self, sha256: str) -> int | None:
        """The version of this epoch, or v0, whose very kernel a source is; None for a new one."""
        return self.state.version_of(sha256, epoch=self.state.epoch)

    def next_block(self, version: int) -> int:
        """A number that no timing job of this run had before; it names its version."""
        self.blocks[version] = self.blocks.get(version, 0) + 1
        return version * BLOCKS_PER_VERSION + self.blocks[version]

    def final_block(self) -> int:
        """The number of the next final benchmark."""
        self.finals += 1
        return FINAL_BLOCK + self.finals

    def spend(self, result: Result) -> None:
        """Count the GPU time that a job tells, as the journal counts it."""
        told = result.device_seconds
        if told:
            used = self.state.gpu_seconds_used + float(told)
            self.state = msgspec.structs.replace(self.state, gpu_seconds_used=used)
            self._costs(result.value or {}, float(told))

    def _costs(self, value: dict[str, Any], seconds: float) -> None:
        """Learn what jobs cost."""
        later = self.attempts > 0
        if "rounds" in value:
            self.checks[later] = max(self.checks.get(later, 0.0), seconds)
        if later and value.get("arms"):
            arms = value["arms"]
            pairs = 1 + max((max(arm["process"], default=0) for arm in arms), default=0)
            unit = seconds / ((len(arms) + 1) * pairs)
            self.units[pairs] = max(self.units.get(pairs, 0.0), unit)

    def checked_with(self, checked: Checked) -> None:
        """Keep the tolerance that a check compared with."""
        used = ToleranceUsed(atol=checked.atol, rtol=checked.rtol, source=checked.tolerance_from)
        self.update(tolerance=used)

    def update(self, **fields: Any) -> None:
        """Replace fields of the state."""
        self.state = msgspec.structs.replace(self.state, **fields)

    def enter(self, entry: VersionEntry) -> None:
        """Put a version's entry into the state."""
        self.state = with_version(self.state, entry)

    def amend(self, number: int, **fields: Any) -> None:
        """Change fields of a version's entry."""
        entry = self.state.version(number)
        if entry is None:
            raise ValueError(f"v{number} has no entry yet")
        self.enter(msgspec.structs.replace(entry, **fields))

    def save(self) -> SaveState:
        """The note that writes state.json."""
        return SaveState(state=self.state)

    def progress(self, stage: Stage, version: int, text: str, *, done: bool = False) -> Progress:
        """The note that shows where the run stands."""
        best = self.versions.get(self.best)
        return Progress(
            stage=stage,
            version=version,
            text=text,
            done=done,
            best_ns=best.median_ns if best else None,
        )


def put(path: str, content: Any) -> PutFile:
    """The note that writes a text, or a record as JSON."""
    text = content if isinstance(content, str) else as_json(content).decode()
    return PutFile(path=path, text=text)
