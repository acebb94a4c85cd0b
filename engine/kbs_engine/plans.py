"""A plan for the next version: methods under a budget, with reasons for what was skipped."""

from __future__ import annotations

import msgspec

from kbs_engine.vocabulary import MethodAxis

SCHEMA_VERSION = 1


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """A higher-ranked method that the plan leaves out."""

    method: str
    reason: str

    def __post_init__(self) -> None:
        """A skip has a reason."""
        if not self.reason.strip():
            msg = f"{self.method} is skipped without a reason"
            raise ValueError(msg)


class PlannedMethod(msgspec.Struct, frozen=True, kw_only=True):
    """One method of the plan with its hypothesis."""

    method: str
    axis: MethodAxis
    evidence: str
    change: str
    expected: dict[str, str]
    risk: str
    decision_rule: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Methods for one iteration."""

    methods: tuple[PlannedMethod, ...]
    slots: int
    axis_slots: dict[str, int]
    skipped: tuple[Skipped, ...] = ()

    def __post_init__(self) -> None:
        """The plan keeps its budget and its axis caps."""
        if len(self.methods) > self.slots:
            msg = f"{len(self.methods)} methods planned for {self.slots} slots"
            raise ValueError(msg)
        for axis, cap in self.axis_slots.items():
            used = sum(method.axis == axis for method in self.methods)
            if used > cap:
                msg = f"{used} methods on axis {axis}, which has {cap} slots"
                raise ValueError(msg)
