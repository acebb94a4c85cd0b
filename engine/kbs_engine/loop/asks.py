"""What the state machine asks of the world, and what it is told.

An *ask* has an answer, which is journaled before it is acted on; asking again with the same
history gives the same ask, which is what makes a killed run resumable. A *note* has none: it
is a file to write or progress to show, and doing it twice changes nothing (``actions``).
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from kbs_engine.adaptive import ProfilePlan
from kbs_engine.facts import Chip
from kbs_engine.jobs import AnyJob, Result, SourceRef, Task
from kbs_engine.loop.branching import Space, Trial
from kbs_engine.loop.parts import Offered, Order, Switch, Tunable, Variant
from kbs_engine.methods import Method
from kbs_engine.outcomes import Outcome
from kbs_engine.recommendations import KernelAdvice, Recommendation
from kbs_engine.results import Compiled, Counted, Disassembled, Machine, Profiled
from kbs_engine.roofs import Roofline
from kbs_engine.run.records import (
    EvidenceNote,
    MethodOpcodes,
    NcuTop,
    RequestFile,
    Settings,
    Target,
)

SCHEMA_VERSION = 1


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag_field="ask"):
    """Base of everything that has an answer."""

    @property
    def key(self) -> str:
        """Content hash: the same question has the same key."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class RunJobs(Ask, frozen=True, kw_only=True, tag="jobs"):
    """Device jobs that may run at once; answered with their results in order."""

    jobs: tuple[AnyJob, ...]
    what: str
    """For people: ``race, block 3``."""
    version: int
    branch: str = ""
    optional: tuple[str, ...] = ()
    """Kinds of job that the run can go on without; one that could not be carried out is then an
    answer too, and otherwise ends the command with its remedy."""


class JobsDone(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="jobs"):
    """Results of the jobs, in order."""

    results: tuple[Result, ...]


class Describe(Ask, frozen=True, kw_only=True, tag="describe"):
    """The static step: cited specs of the chip, roofs of the work, targets."""

    settings: Settings
    machine: Machine
    counted: Counted | None


class Described(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="described"):
    """What the knowledge base says of chip and task before anything is timed."""

    chip: str = ""
    arch: str = ""
    limits: Chip | None = None
    """The chip's record, by whose cited limits branches are screened."""
    specs: tuple[str, ...] = ()
    """Citation lines, ``UNKNOWN`` ones included."""
    missing: tuple[str, ...] = ()
    """Metrics that the run needs and nobody cited; placeholders are taken out."""
    roofline: Roofline | None = None
    target: Target | None = None
    notes: tuple[str, ...] = ()


class ReadMarks(Ask, frozen=True, kw_only=True, tag="marks"):
    """Tunables and switches of a source."""

    source: SourceRef


class MarksRead(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="marks"):
    """The marks, or why they cannot be read."""

    tunables: tuple[Tunable, ...] = ()
    switches: tuple[Switch, ...] = ()
    fault: str = ""


class Write(Ask, frozen=True, kw_only=True, tag="write"):
    """Write variants of one source as full texts into the blob store."""

    source: SourceRef
    variants: tuple[Variant, ...]


class Written(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="written"):
    """A source per variant, or None with the fault of the same place."""

    sources: tuple[SourceRef | None, ...]
    faults: tuple[str, ...]


class Search(Ask, frozen=True, kw_only=True, tag="search"):
    """The next assignments of a source's tunables, given what was measured of them."""

    spaces: tuple[Space, ...]
    seen: tuple[Trial, ...]
    skip: tuple[dict[str, Any], ...] = ()
    """Assignments measured in earlier versions, beside other rivals."""
    seeds: tuple[dict[str, Any], ...] = ()
    wanted: int
    round: int
    """Of this version; also what the sampler is seeded with."""


class Searched(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="searched"):
    """Assignments not seen yet, the most promising first; none when the space is used up."""

    assignments: tuple[dict[str, Any], ...] = ()


class Advise(Ask, frozen=True, kw_only=True, tag="advise"):
    """Diagnosis, ranked methods and their evidence for one measured version."""

    version: int
    source: SourceRef
    settings: Settings
    machine: Machine
    counted: Counted | None
    profile: Profiled | None
    second: Profiled | None = None
    """The pass that an earlier answer asked for, where it was made."""
    time_ns: float
    applied: tuple[str, ...]
    """Methods that the source has already."""
    compiled: Compiled | None = None
    opcodes: dict[str, int] = msgspec.field(default_factory=dict)
    """How often each mnemonic stands in the machine code, where it could be read."""
    tried: tuple[dict[str, Any], ...] = ()
    """Tunable assignments measured already on this source."""
    as_of: str = ""
    """Day at which past outcomes are weighed."""


class Advice(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="advice"):
    """What the knowledge base and the proposer say of a measured version."""

    kernels: tuple[KernelAdvice, ...]
    """One per launch of the call, the longest first."""
    roofline: Roofline
    """Of the whole call."""
    ranked: tuple[Recommendation, ...]
    """Methods over the launches of the call, weighted by their time."""
    offered: tuple[Recommendation, ...] = ()
    """What the source or the proposer offers and no measured cause asks for."""
    unwritable: dict[str, str] = msgspec.field(default_factory=dict)
    """Methods that this proposer cannot write here, each with the reason."""
    pages: dict[str, Method] = msgspec.field(default_factory=dict)
    seeds: tuple[dict[str, Any], ...] = ()
    """Tunable assignments of past outcomes in similar contexts."""
    evidence: EvidenceNote
    top: NcuTop | None = None
    summary: str = ""
    """ncu_summary.md, or what a counter-free run says in its place."""
    details: str = ""
    next_pass: ProfilePlan | None = None
    """What would separate the leading causes and was not collected yet."""


class Propose(Ask, frozen=True, kw_only=True, tag="propose"):
    """Candidates for the next version, made from ``base``."""

    file: RequestFile
    base: SourceRef
    attempt: int = 1


class Proposed(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="proposed"):
    """Candidates, or why the try failed."""

    candidates: tuple[Offered, ...] = ()
    failure: str = ""
    withdrawn: bool = False
    """Orders came while a kernel was waited for: they are followed before the next request."""


class JudgeOpcodes(Ask, frozen=True, kw_only=True, tag="opcodes"):
    """Whether the machine code shows the methods; judged by signatures of the wiki."""

    methods: tuple[str, ...]
    arch: str
    after: Disassembled
    before: Disassembled | None


class OpcodesJudged(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="opcodes"):
    """One verdict per method, in order."""

    methods: tuple[MethodOpcodes, ...]


class CheckGate(Ask, frozen=True, kw_only=True, tag="gate"):
    """Check a version's folder; a refusal that can be mended ends the command, unanswered."""

    version: int
    final: bool = False
    epoch: int = 0


class GatePassed(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="gate"):
    """The gate let the version through and moved current_iteration.txt."""


class GateRefused(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="refused"):
    """Nothing mends the version, and the end was asked for: it is given up."""

    why: str


class Commit(Ask, frozen=True, kw_only=True, tag="commit"):
    """Commit an accepted version, or the reports at the end, to the run's repository."""

    version: int
    message: str


class Committed(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="commit"):
    """The commit, empty where git is not there."""

    commit: str


class Remember(Ask, frozen=True, kw_only=True, tag="remember"):
    """Append outcomes to the experience log; ids make a repetition harmless."""

    version: int
    outcomes: tuple[Outcome, ...]


class Remembered(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="remember"):
    """Ids of the records."""

    ids: tuple[str, ...]


class External(Ask, frozen=True, kw_only=True, tag="external"):
    """Time a source with a team's own driver; labelled, and never deciding."""

    version: int
    source: SourceRef
    command: str
    task: Task


class ExternalDone(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="external"):
    """The driver's figure, or why there is none."""

    value: float | None = None
    unit: str = "ns"
    failure: str = ""


class AwaitOrders(Ask, frozen=True, kw_only=True, tag="orders"):
    """Orders given since the last time; at the end of a run, wait for one."""

    number: int
    ended: bool


class OrdersGiven(msgspec.Struct, frozen=True, kw_only=True, tag_field="answer", tag="orders"):
    """Orders in the order given."""

    orders: tuple[Order, ...]
    masked: tuple[int, ...] = ()
    """Versions whose memory record is masked now."""


AnyAsk = (
    RunJobs | Describe | ReadMarks | Write | Search | Advise | Propose | JudgeOpcodes | CheckGate
    | Commit | Remember | External | AwaitOrders
)  # fmt: skip
AnyAnswer = (
    JobsDone | Described | MarksRead | Written | Searched | Advice | Proposed | OpcodesJudged
    | GatePassed | GateRefused | Committed | Remembered | ExternalDone | OrdersGiven
)  # fmt: skip
