"""Knowledge seen through a lens: extra similarity for one question, or a part of it left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from kbs_engine.facts import Chip
from kbs_engine.methods import Method
from kbs_engine.outcomes import Outcome
from kbs_engine.ports import Knowledge, Rows
from kbs_engine.symptoms import RuleResult, SymptomRule


class Lens:
    """``Knowledge`` for one question.

    ``nearby`` is the similarity (0-1) of methods to the question itself; the larger of it and
    the stored one counts. ``retrieval`` and ``experience`` leave those parts out when false.
    """

    def __init__(
        self,
        base: Knowledge,
        *,
        nearby: Mapping[str, float] | None = None,
        retrieval: bool = True,
        experience: bool = True,
        floor: float = 1.0,
    ) -> None:
        """Keep the base; nothing is asked yet."""
        self._base = base
        self._nearby = nearby or {}
        self._retrieval = retrieval
        self._experience = experience
        self._floor = floor

    def chip(self, name: str) -> Chip:
        """As the base says."""
        return self._base.chip(name)

    def rules(self) -> Sequence[SymptomRule]:
        """As the base says."""
        return self._base.rules()

    def methods(self) -> Sequence[Method]:
        """As the base says, each claim scaled by its nearness to the question."""
        methods = self._base.methods()
        return methods if self._floor >= 1 else [self._scaled(method) for method in methods]

    def _scaled(self, method: Method) -> Method:
        factor = self._floor + (1 - self._floor) * self._nearby.get(method.id, 0.0)
        claims = {name: weight * factor for name, weight in method.addresses.items()}
        return msgspec.structs.replace(method, addresses=claims)

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
        """The larger of the stored similarity and that to the question; zeros when left out."""
        if not self._retrieval:
            return dict.fromkeys(methods, 0.0)
        stored = self._base.similarity(symptoms, methods)
        return {name: max(stored.get(name, 0.0), self._nearby.get(name, 0.0)) for name in methods}

    def outcomes(self, method: str | None = None) -> Sequence[Outcome]:
        """As the base says; none when left out."""
        return self._base.outcomes(method) if self._experience else ()
