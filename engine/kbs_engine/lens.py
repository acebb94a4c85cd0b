"""Knowledge seen through a lens: a part of it left out, to see what that part is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from kbs_engine.chance import Context, Tallies
from kbs_engine.facts import Chip
from kbs_engine.methods import Method
from kbs_engine.outcomes import Outcome
from kbs_engine.ports import Knowledge, Rows
from kbs_engine.symptoms import RuleResult, SymptomRule


class Lens:
    """``Knowledge`` for one question; ``retrieval`` and ``experience`` leave parts out if false."""

    def __init__(self, base: Knowledge, *, retrieval: bool = True, experience: bool = True) -> None:
        """Keep the base; nothing is asked yet."""
        self._base = base
        self._retrieval = retrieval
        self._experience = experience

    def chip(self, name: str) -> Chip:
        """As the base says."""
        return self._base.chip(name)

    def rules(self) -> Sequence[SymptomRule]:
        """As the base says."""
        return self._base.rules()

    def methods(self) -> Sequence[Method]:
        """As the base says."""
        return self._base.methods()

    def groups(self) -> Sequence[frozenset[str]]:
        """As the base says."""
        return self._base.groups()

    def features(self, arch: str) -> frozenset[str] | None:
        """As the base says."""
        return self._base.features(arch)

    def evaluate(self, rows: Sequence[Rows]) -> Sequence[Sequence[RuleResult]]:
        """As the base says."""
        return self._base.evaluate(rows)

    def avoid(self, rows: Sequence[Rows]) -> Sequence[frozenset[str]]:
        """As the base says."""
        return self._base.avoid(rows)

    def similarity(self, symptoms: Sequence[str], methods: Sequence[str]) -> Mapping[str, float]:
        """As the base says; zeros when left out."""
        if not self._retrieval:
            return dict.fromkeys(methods, 0.0)
        return self._base.similarity(symptoms, methods)

    def outcomes(self, method: str | None = None) -> Sequence[Outcome]:
        """As the base says; none when left out."""
        return self._base.outcomes(method) if self._experience else ()

    def evidence(self, context: Context, as_of: date) -> Mapping[str, Tallies]:
        """As the base says; none when left out."""
        return self._base.evidence(context, as_of) if self._experience else {}

    def tried_on(self, source_hash: str) -> Sequence[Outcome]:
        """As the base says; none when left out."""
        return self._base.tried_on(source_hash) if self._experience else ()
