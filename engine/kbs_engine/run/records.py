"""Every record of a run folder (loop.md), by the file that holds it.

| file | record |
|---|---|
| state.json | State (Settings, Epoch, VersionEntry, FrontierEntry, RooflinePoint, MethodVerdict) |
| env.json | Env |
| vK/bench.json, branches/*/bench.json, ablations/*/bench.json, benchmark.json | Bench |
| branches/*/static.json | Static |
| vK/ncu_top.json | NcuTop |
| vK/methods.json | MethodsFile |
| vK/roofline.json | RooflineFile (Budget) |
| vK/search.json | SearchFile (SearchRound) |
| vK/sass_check.json | SassCheck |
| vK/attribution.json | AttributionFile |
| vK/request.json | RequestFile |
| vK/hypothesis.txt | Hypothesis or ShortHypothesis |
| vK/kbs_evidence.md | EvidenceNote |
| vK/plan.md | PlanNote |
| memory/vN.json | MemoryRecord |
"""

from kbs_engine.run.judged import (
    AblatedVariant,
    AttributionFile,
    Budget,
    Contract,
    Feedback,
    Interaction,
    MethodAttribution,
    MethodOpcodes,
    MethodsFile,
    Ranked,
    RequestFile,
    RooflineFile,
    SassCheck,
    SearchFile,
    SearchRound,
    VersionMethod,
    roofline_file,
)
from kbs_engine.run.measured import (
    ArmSummary,
    Bench,
    Env,
    EnvFinding,
    ExternalTiming,
    NcuTop,
    StatedComparison,
    Static,
    TopMetric,
    merge_timed,
)
from kbs_engine.run.memory_record import (
    Correctness,
    Experience,
    Experiment,
    IsaProgress,
    MemoryRecord,
    Optimization,
    Performance,
    Pitfall,
    ProfileEvidence,
    QualityGate,
    Search,
)
from kbs_engine.run.notes import (
    EvidenceNote,
    Hypothesis,
    PlanNote,
    Query,
    SelectedEvidence,
    ShortHypothesis,
)
from kbs_engine.run.settings import (
    EXTENSIBLE,
    IsaTarget,
    Placeholder,
    Settings,
    Target,
    changed_fixed,
)
from kbs_engine.run.state import (
    Epoch,
    FrontierEntry,
    MethodVerdict,
    RooflinePoint,
    State,
    VersionEntry,
    with_version,
)

__all__ = [
    "EXTENSIBLE",
    "AblatedVariant",
    "ArmSummary",
    "AttributionFile",
    "Bench",
    "Budget",
    "Contract",
    "Correctness",
    "Env",
    "EnvFinding",
    "Epoch",
    "EvidenceNote",
    "Experience",
    "Experiment",
    "ExternalTiming",
    "Feedback",
    "FrontierEntry",
    "Hypothesis",
    "Interaction",
    "IsaProgress",
    "IsaTarget",
    "MemoryRecord",
    "MethodAttribution",
    "MethodOpcodes",
    "MethodVerdict",
    "MethodsFile",
    "NcuTop",
    "Optimization",
    "Performance",
    "Pitfall",
    "Placeholder",
    "PlanNote",
    "ProfileEvidence",
    "QualityGate",
    "Query",
    "Ranked",
    "RequestFile",
    "RooflineFile",
    "RooflinePoint",
    "SassCheck",
    "Search",
    "SearchFile",
    "SearchRound",
    "SelectedEvidence",
    "Settings",
    "ShortHypothesis",
    "State",
    "StatedComparison",
    "Static",
    "Target",
    "TopMetric",
    "VersionEntry",
    "VersionMethod",
    "changed_fixed",
    "merge_timed",
    "roofline_file",
    "with_version",
]
