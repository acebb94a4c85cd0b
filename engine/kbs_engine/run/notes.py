"""Records of hypothesis.txt, kbs_evidence.md and plan.md; ``run.markdown`` is their text."""

from __future__ import annotations

from typing import Literal

import msgspec

from kbs_engine.run.memory_record import Search


class Hypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """The next change: nine sections, all of them said."""

    version: int
    current_evidence: tuple[str, ...]
    decision_link: str
    change: tuple[str, ...]
    """One line per method; one line alone in one-change mode."""
    rationale: str
    expected: tuple[str, ...]
    """Metric movements: ``dram_pct up: 41 → above 70``."""
    risk: str
    evidence_used: tuple[str, ...]
    """Citations and record ids, each resolvable."""
    decision_rule: str


class ShortHypothesis(msgspec.Struct, frozen=True, kw_only=True):
    """Hypothesis / Rationale / Expected: enough for one change."""

    hypothesis: str
    rationale: str
    expected: str


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """One question to the knowledge base; a version asks at least one of each kind."""

    kind: Literal["kernel", "bottleneck"]
    text: str
    answer: str = ""


class SelectedEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that the decision rests on."""

    citation: str
    """``gpu-wiki/<path>:L<line>``, or an outcome's id."""
    says: str


class EvidenceNote(msgspec.Struct, frozen=True, kw_only=True):
    """kbs_evidence.md."""

    version: int
    facts: tuple[str, ...]
    """What was measured (NCU Facts; of a counter-free run, what timing and opcodes say)."""
    queries: tuple[Query, ...]
    selected: tuple[SelectedEvidence, ...]
    rejected: tuple[str, ...]
    decision_link: str


class PlanNote(msgspec.Struct, frozen=True, kw_only=True):
    """plan.md."""

    version: int
    input_evidence: tuple[str, ...]
    search_log: tuple[Search, ...]
    action: tuple[str, ...]
    expected_impact: tuple[str, ...]
    risks_and_rollback: tuple[str, ...]
