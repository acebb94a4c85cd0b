"""What was decided about a version: methods, roofline, opcodes, attribution, request."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kbs_engine.plans import Plan, Skipped
from kbs_engine.recommendations import AntiStrategy, Filtered, KernelDiagnosis, Recommendation
from kbs_engine.roofs import Roofline
from kbs_engine.run.settings import AttributionMode, Placeholder
from kbs_engine.run.state import FrontierEntry
from kbs_engine.signatures import SignatureVerdict
from kbs_engine.symptoms import Evidence
from kbs_engine.vocabulary import Dtype, Language, MethodAxis, Verdict
from kbs_engine.work import Work

SCHEMA_VERSION = 1

OpcodeOutcome = Literal["confirmed", "refuted", "not_observable"]
AttributedAs = Literal["helps", "within noise", "harms", "inseparable", "not measured"]


class VersionMethod(msgspec.Struct, frozen=True, kw_only=True):
    """A method that is in this version."""

    method: str
    axis: MethodAxis
    rank: int
    """Place (from 1) in the ranking that the plan chose from."""
    trigger_strength: float
    """Share of time (0–1) that it was said to be able to return."""
    evidence: tuple[Evidence, ...] = ()
    description: str = ""
    expected: dict[str, str] = msgspec.field(default_factory=dict)
    switch: str = ""
    """The name of its switch in the source; empty for a rewrite without one."""

    def __post_init__(self) -> None:
        """Strength is a share, ranks start at 1."""
        if not 0.0 <= self.trigger_strength <= 1.0 or self.rank < 1:
            raise ValueError(f"{self.method}: strength {self.trigger_strength}, rank {self.rank}")


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the ranking that a plan chose from."""

    method: str
    axis: MethodAxis
    score: float


class MethodsFile(msgspec.Struct, frozen=True, kw_only=True):
    """methods.json: what this version holds, and which better-ranked methods it left out."""

    schema_version: int = SCHEMA_VERSION
    version: int
    base_version: int | None = None
    slots: int = 3
    axis_slots: dict[MethodAxis, int] = msgspec.field(default_factory=dict)
    methods: tuple[VersionMethod, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    ranking: tuple[Ranked, ...] = ()
    inherited: tuple[str, ...] = ()
    """Methods that the base version held already."""
    proposer: str = ""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """Method slots of the next iteration, shared out over the axes."""

    slots: int
    axis_slots: dict[MethodAxis, int]
    axis_recoverable: dict[MethodAxis, float] = msgspec.field(default_factory=dict)
    """What the best methods of an axis together could return (0–1)."""
    axis_cap: int = 2
    bar: float = 0.10
    """An axis that returns less gets no slot."""
    note: str = ""

    def __post_init__(self) -> None:
        """The axes never get more than there is, nor one axis more than the cap."""
        given = self.axis_slots.values()
        if sum(given) > self.slots or any(not 0 <= n <= self.axis_cap for n in given):
            raise ValueError(f"budget {self.axis_slots} breaks {self.slots} slots or the cap")


class RooflineFile(Roofline, frozen=True, kw_only=True):
    """roofline.json: the roofline of the version's call, its budget, and whose it is."""

    schema_version: int = SCHEMA_VERSION
    version: int
    source_sha256: str
    chip: str = ""
    work: Work | None = None
    budget: Budget
    kernels: dict[str, Roofline] = msgspec.field(default_factory=dict)
    """One roofline per launch where a call has several."""
    placeholders: tuple[Placeholder, ...] = ()


def roofline_file(roofline: Roofline, **rest: Any) -> RooflineFile:
    """roofline.json from a roofline and the fields that a version adds."""
    fields = {name: getattr(roofline, name) for name in Roofline.__struct_fields__}
    return RooflineFile(**fields, **rest)


class MethodOpcodes(msgspec.Struct, frozen=True, kw_only=True):
    """What the machine code shows of one method, over the functions of a version."""

    method: str
    outcome: OpcodeOutcome
    reason: str
    functions: tuple[SignatureVerdict, ...] = ()


class SassCheck(msgspec.Struct, frozen=True, kw_only=True):
    """sass_check.json."""

    schema_version: int = SCHEMA_VERSION
    version: int
    source_sha256: str
    before_sha256: str = ""
    arch: str
    tool: str = ""
    methods: tuple[MethodOpcodes, ...] = ()
    listing_sha256: str = ""


class AblatedVariant(msgspec.Struct, frozen=True, kw_only=True):
    """One variant with methods switched off, against the champion."""

    name: str
    """``no_<method>``, or ``off_a+b`` in a factorial."""
    off: tuple[str, ...]
    sha256: str
    correct: bool
    reason: str | None = None
    ratio: float | None = None
    """t_variant / t_champion: above 1 the methods help."""
    low: float | None = None
    high: float | None = None


class MethodAttribution(msgspec.Struct, frozen=True, kw_only=True):
    """The cell of the verdict table that a method ended in."""

    method: str
    attribution: AttributedAs
    gain: float | None = None
    """Share of the time without the method that it returns: 1 − t_champion / t_without."""
    low: float | None = None
    high: float | None = None
    p_holm: float | None = None
    opcodes: OpcodeOutcome
    verdict: Verdict
    because: str = ""


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """What two methods do together beyond the sum of each alone, in log time."""

    methods: tuple[str, str]
    value: float
    low: float
    high: float


class AttributionFile(msgspec.Struct, frozen=True, kw_only=True):
    """attribution.json."""

    schema_version: int = SCHEMA_VERSION
    version: int
    source_sha256: str
    mode: AttributionMode
    noise: float
    variants: tuple[AblatedVariant, ...] = ()
    methods: tuple[MethodAttribution, ...] = ()
    total: float | None = None
    """Share of time that all methods together return."""
    total_low: float | None = None
    total_high: float | None = None
    interactions: tuple[Interaction, ...] = ()
    note: str = ""


class SearchRound(msgspec.Struct, frozen=True, kw_only=True):
    """One round of a search: variants proposed, and what became of them."""

    number: int
    proposed: int
    dropped: int
    """By the static screen, or not writable."""
    wrong: int
    """Refused by the check, or while timed."""
    raced: int
    """Timed to a verdict."""
    samples: int
    """Timed calls of all variants of the round."""
    gpu_seconds: float
    best_ns: float | None = None
    """Median time of the fastest so far."""


class SearchFile(msgspec.Struct, frozen=True, kw_only=True):
    """search.json: what the search for a version's champion tried, and what it cost."""

    schema_version: int = SCHEMA_VERSION
    version: int
    tunables: tuple[str, ...] = ()
    """Of the champion's source."""
    space: int = 1
    """Assignments that its tunables allow."""
    rounds: tuple[SearchRound, ...] = ()
    ended: str = ""
    """Why no further round was made."""

    @property
    def samples(self) -> int:
        """Timed calls of all rounds."""
        return sum(row.samples for row in self.rounds)

    @property
    def gpu_seconds(self) -> float:
        """GPU time of all rounds."""
        return sum(row.gpu_seconds for row in self.rounds)


class Contract(msgspec.Struct, frozen=True, kw_only=True):
    """What the writer of a kernel must keep to."""

    language: Language
    entry: str
    rules: tuple[str, ...]
    dims: dict[str, int | float | str | bool]
    dtype: Dtype | None = None
    atol: float | None = None
    """What `check` compares with: |actual − expected| ≤ atol + rtol × |expected|."""
    rtol: float | None = None
    tolerance_from: str = ""
    """``command line``, ``reference`` or ``derived from fp16, reduction of 4096``."""
    atol_times_rms: bool = False
    """Whether atol is in units of the root mean square of each output."""
    outputs: tuple[str, ...] = ()
    marks: str = ""
    """How tunables and switches are written in this language."""


class Feedback(msgspec.Struct, frozen=True, kw_only=True):
    """Why an earlier try at this version failed."""

    attempt: int
    branch: str = ""
    reason: str
    detail: str = ""


class RequestFile(msgspec.Struct, frozen=True, kw_only=True):
    """request.json of vK: all that the writer of v(K+1) is given."""

    schema_version: int = SCHEMA_VERSION
    run_id: str
    version: int
    next_version: int
    base_version: int
    base_file: str
    """Path of the source to start from, relative to the run folder."""
    base_sha256: str
    reference_file: str = "ref.py"
    arch: str = ""
    chip: str = ""
    diagnoses: tuple[KernelDiagnosis, ...] = ()
    budget: Budget
    ranked: tuple[Recommendation, ...] = ()
    anti_strategies: tuple[AntiStrategy, ...] = ()
    filtered: tuple[Filtered, ...] = ()
    plan: Plan
    contract: Contract
    feedback: tuple[Feedback, ...] = ()
    frontier: tuple[FrontierEntry, ...] = ()
    branches: int = 4
    placeholders: tuple[Placeholder, ...] = ()
